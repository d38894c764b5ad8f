import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { splitNames, translateTools } from '../../define/agent/foreign-tools.js';
import type { FrontMatter } from '../../define/agent/front-matter.js';
import { BUILT_IN_TOOLS } from '../../tools/registry.js';
import { type AgentFile, type AgentReader, readAgentFolder, readText } from './agent-files.js';

/** What the entries of `import` contain. */
export interface ImportedFiles {
  readonly agents: readonly AgentFile[];
  /** Instructions for all agents, by the name of the file. */
  readonly instructions: Readonly<Record<string, string>>;
  /** Absolute paths: files, and `FOLDER/*.md`. */
  readonly paths: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Reads the entries of `import`: a Markdown file is an instruction for all agents, and a folder has agents. Links are followed, because the
 * config names them. Never throws for a missing or invalid file: `problems` describes it.
 */
export async function readImportedFiles(cwd: string, entries: readonly string[], toolNames: readonly string[]): Promise<ImportedFiles> {
  const known = [...toolNames, ...BUILT_IN_TOOLS];
  const read = await Promise.all(entries.map((entry, index) => readEntry({ cwd, entry, path: `import.${index}` }, known)));
  return {
    agents: read.flatMap(({ agents = [] }) => agents),
    instructions: Object.fromEntries(read.flatMap(({ instructions = {} }) => Object.entries(instructions))),
    paths: read.flatMap(({ paths = [] }) => paths),
    problems: read.flatMap(({ problems = [] }) => problems),
  };
}

interface Entry {
  readonly cwd: string;
  readonly entry: string;
  readonly path: string;
}

/** A folder of agents may also be named by a glob. */
const AGENTS = /\/\*\.md$/u;

async function readEntry({ cwd, entry, path }: Entry, known: readonly string[]): Promise<Partial<ImportedFiles>> {
  const target = resolve(cwd, entry.replace(AGENTS, ''));
  if (!entry.endsWith('.md') || AGENTS.test(entry)) {
    const agents = await readAgentFolder(target, importedAgent(known));
    if (agents.length > 0) return { agents, paths: [join(await realpath(target), '*.md')] };
    return { problems: [`${path}: ${entry} has no agents: a folder with Markdown files that begin with front matter is needed`] };
  }
  const found = await readText(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { problem: 'no such file' };
    throw error;
  });
  if (!found) return { problems: [`${path}: ${entry}: not a file`] };
  if ('problem' in found) return { problems: [`${path}: ${entry}: ${found.problem}`] };
  return { instructions: { [basename(entry)]: found.text }, paths: await namesOfFile(target) };
}

/** The path of a file, and of what it leads to if it is a link: neither may be replaced. */
async function namesOfFile(target: string): Promise<string[]> {
  const [folder, real] = await Promise.all([realpath(dirname(target)), realpath(target)]);
  return [...new Set([join(folder, basename(target)), real])];
}

/** Names of models without a version, and the newest models of each kind. */
const MODELS: ReadonlyMap<string, string> = new Map([
  ['opus', 'anthropic/claude-opus-5'],
  ['sonnet', 'anthropic/claude-sonnet-5'],
  ['haiku', 'anthropic/claude-haiku-4-5'],
]);

/** The model of the run. */
const INHERIT = 'inherit';

/** Options of other agents that decide about rights here too. Others are left out with a notice. */
const READ_OPTIONS = new Set(['name', 'description', 'tools', 'disallowedTools', 'model', 'skills']);

/** Reads an agent in the format of `.claude/agents`. */
function importedAgent(known: readonly string[]): AgentReader {
  return ({ options, body, lineOf }, fileName) => {
    const { name = fileName, description, model, skills } = options;
    if (typeof name !== 'string') return { agent: {}, problem: `${lineOf(['name']) ?? 1}: name: expected a text` };
    const tools = translateTools(namesOf(options['tools']), known);
    const blocked = translateTools(namesOf(options['disallowedTools']), known);
    // an empty list would offer every tool
    if (options['tools'] !== undefined && tools.names.length === 0)
      return { name, agent: {}, problem: `${lineOf(['tools']) ?? 1}: tools: none of them is known: ${tools.unknown.join(', ')}` };
    const unused = Object.keys(options).filter((option) => !READ_OPTIONS.has(option));
    return {
      name,
      agent: {
        description,
        prompt: body,
        ...(tools.names.length > 0 ? { tools: [...tools.names] } : {}),
        ...(blocked.names.length > 0 ? { blockedTools: [...blocked.names] } : {}),
        ...modelOf(model),
        ...(skills === undefined ? {} : { skills: namesOf(skills) }),
      },
      notices: [
        ...tools.unknown.map((tool) => `no tool for ${tool}; it is left out`),
        ...unused.map((option) => `the option ${option} is not used`),
      ],
    };
  };
}

function modelOf(model: FrontMatter['options'][string]): { readonly model?: unknown } {
  if (model === undefined || model === INHERIT) return {};
  return { model: typeof model === 'string' ? (MODELS.get(model) ?? model) : model };
}

/** A list, or one text with commas. */
function namesOf(given: unknown): string[] {
  if (Array.isArray(given)) return given.flatMap((name) => String(name).trim() || []);
  return typeof given === 'string' ? splitNames(given) : [];
}
