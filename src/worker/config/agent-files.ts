import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_LIMITS } from '../../contracts/constants/limits.js';
import { decodeMarkdown, type FrontMatter, parseFrontMatter } from '../../define/agent/front-matter.js';

/** An agent read from a file, not validated, or the problem with the file. */
export interface AgentFile {
  readonly name: string;
  readonly file: string;
  readonly agent: unknown;
  /** Begins with the file, and with the line and the column if they are known. */
  readonly problem?: string;
  /** The place of an option in the file, such as `FILE:3`, by its path and by a text of its value. `FILE` if it is not known. */
  readonly placeOf: (path: readonly PropertyKey[], text?: string) => string;
  /** What was left out of an imported file, one line each. */
  readonly notices?: readonly string[];
}

/**
 * Reads the agents of `agents/NAME.md`, sorted by name. The front matter holds the options, the text below is the prompt. Ignores a
 * file without front matter. Never throws for an invalid file: `problem` describes it, so that all problems are reported together.
 */
export async function readAgentFiles(cwd: string): Promise<AgentFile[]> {
  return await readOwnAgents(join(cwd, 'agents'));
}

/** Reads the agents of a folder as those of `agents/`. */
export async function readOwnAgents(folder: string): Promise<AgentFile[]> {
  return await readAgentFolder(folder, agentOf);
}

/** Makes an agent from its front matter. Never throws: `problem` begins with the line, such as `3: tools: …`. */
export type AgentReader = (
  matter: FrontMatter,
  name: string,
) => Pick<AgentFile, 'agent' | 'problem' | 'notices'> & { readonly name?: string };

/**
 * Reads every Markdown file with front matter of a folder, sorted by name. Empty if the folder is missing, or a link that leads in a circle.
 * A link to nothing is ignored: editors lock files with such links.
 */
export async function readAgentFolder(folder: string, read: AgentReader): Promise<AgentFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) return [];
    throw error;
  });
  const files = names.filter((name) => name.endsWith('.md')).toSorted();
  const agents = await Promise.all(files.map((name) => readAgentFile(join(folder, name), name.slice(0, -'.md'.length), read)));
  return agents.filter((agent) => agent !== undefined);
}

async function readAgentFile(file: string, name: string, read: AgentReader): Promise<AgentFile | undefined> {
  const inFile = { name, file, agent: {}, placeOf: () => file };
  const found = await readText(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return undefined;
  if ('problem' in found) return { ...inFile, problem: `${file}: ${found.problem}` };
  const matter = await parseFrontMatter(found.text);
  if (!matter) return undefined;
  if ('problem' in matter) {
    const place = [file, matter.line, matter.column].flatMap((part) => part ?? []).join(':');
    return { ...inFile, problem: `${place}: ${matter.problem}` };
  }
  const placeOf = (path: readonly PropertyKey[], text?: string): string => {
    const line = matter.lineOf(path) ?? (text === undefined ? undefined : matter.lineWith(text));
    return line === undefined ? file : `${file}:${line}`;
  };
  const { problem, ...agent } = read(matter, name);
  return { ...inFile, placeOf, ...agent, ...(problem === undefined ? {} : { problem: `${file}:${problem}` }) };
}

/**
 * The text of a file. Undefined for anything but a regular file. A file that is too large is not read, and one that is no UTF-8 text is a
 * problem.
 */
export async function readText(file: string): Promise<{ readonly text: string } | { readonly problem: string } | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENXIO' || error.code === 'ELOOP') return undefined;
    throw error;
  });
  if (!handle) return undefined;
  try {
    return await readHandle(handle);
  } finally {
    await handle.close();
  }
}

async function readHandle(handle: FileHandle): Promise<{ readonly text: string } | { readonly problem: string } | undefined> {
  const found = await handle.stat();
  if (!found.isFile()) return undefined;
  const { agentFileBytesMax } = CONFIG_LIMITS;
  if (found.size > agentFileBytesMax) return { problem: `the file has ${found.size} bytes (limit: ${agentFileBytesMax})` };
  const text = decodeMarkdown(await handle.readFile());
  return text === undefined ? { problem: 'not UTF-8' } : { text };
}

/** Options that are functions, which a file cannot contain. */
const FUNCTIONS = ['completionGate'];

function agentOf({ options, body, lineOf }: FrontMatter): Pick<AgentFile, 'agent' | 'problem'> {
  const at = (field: string): string => `${lineOf([field]) ?? 1}: ${field}`;
  if (Object.hasOwn(options, 'prompt')) return { agent: {}, problem: `${at('prompt')}: the prompt is the text below the front matter` };
  const code = FUNCTIONS.find((field) => Object.hasOwn(options, field));
  if (code !== undefined) return { agent: {}, problem: `${at(code)}: a function cannot be in a file; define this agent in the config` };
  return { agent: { ...options, prompt: body } };
}
