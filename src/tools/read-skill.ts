import { isAbsolute, posix, relative, sep } from 'node:path';
import { z } from 'zod';
import { SKILL_LIMITS, TOOL_LIMITS } from '../contracts/constants/limits.js';
import { didYouMean } from '../contracts/text/did-you-mean.js';
import { echoValue } from '../contracts/text/echo-value.js';
import type { AgentDefinition } from '../define/define-agent.js';
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutput } from '../define/define-tool.js';
import { readFile } from './read-file.js';
import { findSkills, SKILL_FILE, type Skill, type SkillPlaces } from './skills/find-skills.js';
import { isWithin, openJail } from './workspace/jail.js';
import { walkFiles } from './workspace/walk-files.js';
import { WorkspaceError } from './workspace/workspace-error.js';

/** The name of the tool that reads skills. */
export const READ_SKILL = 'read_skill';

const Arguments = z.strictObject({
  name: z.string().min(1).max(200).describe('Name of the skill.'),
  file: z.string().min(1).max(1_000).optional().describe(`File of the skill, relative to its folder. Default ${SKILL_FILE}.`),
  offset: z.number().int().min(1).optional().describe('First line to read, counted from 1. Default 1.'),
});
type Arguments = z.infer<typeof Arguments>;

/** The worker's folder and its agents, whose options decide which skills a run may read. */
export interface ReadSkillOptions {
  /** @default no skills but those of workspaces */
  readonly folder?: string | undefined;
  /** The folders of skills that plugins have. @default none */
  readonly plugins?: SkillPlaces['plugins'];
  readonly agents: Readonly<Record<string, AgentDefinition>>;
}

/** The space reserved for the lines below the text. */
const FOOTER_BYTES = 4_000;
const FOOTER_LINES = 3;

/** Creates the tool that reads the files of a skill. It is confined to the folder of the skill, and needs no workspace. */
export function createReadSkill({ folder, plugins, agents }: ReadSkillOptions): ToolDefinition<Arguments> {
  return defineTool({
    name: READ_SKILL,
    description:
      `Read a skill: the instructions in its ${SKILL_FILE}, or another file of its folder. ` +
      'A long file is read in parts: the last line, in brackets, contains the offset of the next part.',
    parameters: Arguments,
    effect: 'read',
    network: false,
    execute: async ({ name, file = SKILL_FILE, offset }: Arguments, context: ToolContext) => {
      const agent = context.agent !== undefined && Object.hasOwn(agents, context.agent) ? agents[context.agent] : undefined;
      const found = await findSkills({ worker: folder, plugins, workspace: agent?.workspaceSkills ? context.workspace : undefined });
      const allowed = allowedSkills(found.skills, agent);
      const skill = allowed.find((each) => each.name === name);
      if (!skill) throw new Error(noSkill(name, allowed));
      const text = await readSkillFile(skill, { file, offset, context });
      if (file !== SKILL_FILE || offset !== undefined) return text;
      return [text.trimEnd(), ...(await footer(skill, context))].join('\n');
    },
  });
}

/** The skills that an agent may use. Never throws. */
export function allowedSkills(skills: readonly Skill[], agent: Pick<AgentDefinition, 'skills' | 'workspaceSkills'> = {}): readonly Skill[] {
  const { skills: names, workspaceSkills = false } = agent;
  // an agent without a list, which uses skills of workspaces, uses all of them
  const ofWorkspace = workspaceSkills ? (names ?? 'all') : [];
  return skills.filter(({ name, from }) => {
    const list = from === 'workspace' ? ofWorkspace : (names ?? []);
    return list === 'all' || list.includes(name);
  });
}

function noSkill(name: string, allowed: readonly Skill[]): string {
  const names = allowed.map((skill) => skill.name);
  const available = names.length === 0 ? 'there are no skills' : `available: ${names.join(', ')}`;
  return `NO_SKILL: no skill named ${echoValue(name)}${didYouMean(name, names)}; ${available}`;
}

interface SkillFile {
  readonly file: string;
  readonly offset: number | undefined;
  readonly context: ToolContext;
}

/** The folder that confines a skill, and where the skill is in it. */
interface SkillJail {
  readonly root: string;
  readonly prefix: string;
}

/** A skill of a workspace stays confined to the workspace, where commands may exchange its folder meanwhile. */
function jailOf({ from, folder, path }: Skill, { workspace }: ToolContext): SkillJail {
  return from === 'workspace' && workspace !== undefined ? { root: workspace, prefix: posix.dirname(path) } : { root: folder, prefix: '.' };
}

/** Reads lines of a file as `read_file` does, with the folder of the skill in place of the workspace. */
async function readSkillFile(skill: Skill, { file, offset, context }: SkillFile): Promise<string> {
  if (isAbsolute(file) || file.split(/[\\/]/u).includes('..'))
    throw new Error(`OUTSIDE_SKILL: ${echoValue(file)} is outside the folder of the skill; use a path relative to it`);
  const { output } = context;
  const { root, prefix } = jailOf(skill, context);
  const bounds = {
    bytesMax: Math.max(1, output.bytesMax - FOOTER_BYTES),
    linesMax: Math.max(2, Math.min(output.linesMax, TOOL_LIMITS.outputLinesMax) - FOOTER_LINES),
    collect: (...options: CollectOptions) => output.collect(...options),
  };
  try {
    const args = { path: posix.join(prefix, file), ...(offset === undefined ? {} : { offset }) };
    const text = await readFile.execute(args, { ...context, workspace: root, output: bounds });
    return typeof text === 'string' ? text : JSON.stringify(text);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    // the model reads about the folder that it can reach
    throw new Error(error.message.replaceAll('WORKSPACE', 'SKILL').replaceAll(/\bworkspace\b/gu, 'folder of the skill'), { cause: error });
  }
}

type CollectOptions = Parameters<ToolOutput['collect']>;

/** The other files of the skill, and where a command finds them. */
async function footer(skill: Skill, context: ToolContext): Promise<string[]> {
  const { workspace, signal } = context;
  const { root, prefix } = jailOf(skill, context);
  const jail = await openJail(root);
  const files: string[] = [];
  for await (const file of walkFiles({ jail, folder: prefix, signal, onCut: ignore, onUnreadable: ignore })) {
    const own = posix.relative(prefix, file);
    if (own !== SKILL_FILE) files.push(own.replaceAll(/\p{Cc}/gu, '?'));
    if (files.length > SKILL_LIMITS.filesShownMax) break;
  }
  if (files.length === 0) return [];
  const shown = files.slice(0, SKILL_LIMITS.filesShownMax).join(', ');
  const more = files.length > SKILL_LIMITS.filesShownMax ? ', and more' : '';
  const place = workspace === undefined ? [] : [`[folder of the skill, for run_command: ${await commandPath(workspace, skill.folder)}]`];
  return [`[files of this skill: ${shown}${more}; read one with read_skill and file]`, ...place];
}

function ignore(): void {
  // the list of files is an aid: what it leaves out can still be read by name
}

/** The path of a folder for a command: relative to the workspace, or absolute outside of it. */
async function commandPath(workspace: string, folder: string): Promise<string> {
  const [{ root }, { root: real }] = await Promise.all([openJail(workspace), openJail(folder)]);
  return isWithin(root, real) ? relative(root, real).split(sep).join('/') || '.' : real;
}
