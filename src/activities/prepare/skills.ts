import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { SKILL_LIMITS } from '../../contracts/constants/limits.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { translateTools } from '../../define/agent/foreign-tools.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import { allowedSkills, READ_SKILL } from '../../tools/read-skill.js';
import { BUILT_IN_TOOLS } from '../../tools/registry.js';
import { type FoundSkills, findSkills, type Skill, type SkillPlaces } from '../../tools/skills/find-skills.js';
import { readSkillText } from '../../tools/skills/skill-text.js';
import { failure, messageOf } from '../runtime/failures.js';
import { fillTemplate } from './agent-prompt.js';
import { matchSkills } from './match-skills.js';

/** The skills of a run, as they were when it started. */
export interface CapturedSkills {
  /** The skills that the prompt lists. */
  readonly listed: readonly Pick<Skill, 'name' | 'description' | 'path'>[];
  /** How many more there are. */
  readonly omitted: number;
  /** Whether the list depends on files of the workspace. */
  readonly listChangesWith: 'config' | 'workspace';
  /** The texts of skills that match the task, if the agent expands them. */
  readonly expanded: readonly { readonly name: string; readonly text: string }[];
  /** Names of tools that matching skills of the worker add. */
  readonly tools: ReadonlySet<string>;
  /** True if a call of `read_skill` needs the workspace's host. */
  readonly needsWorkspace: boolean;
  readonly notices: readonly string[];
}

/** Where a worker has skills. */
export interface SkillFolders {
  /** The worker's folder. Absent: no skills but those of plugins and workspaces. */
  readonly folder?: string;
  /** The folders of skills that plugins have. @default none */
  readonly pluginSkills?: SkillPlaces['plugins'];
}

/** The run whose skills are captured. */
export interface SkilledRun {
  readonly input: RunInput;
  readonly agent: AgentDefinition;
}

const NO_SKILLS: CapturedSkills = {
  listed: [],
  omitted: 0,
  listChangesWith: 'config',
  expanded: [],
  tools: new Set(),
  needsWorkspace: false,
  notices: [],
};

/**
 * Finds the skills of a run and compares them with its task. Reads no folder for an agent without skills. Throws `Input.Invalid` if they
 * cannot be read; the worker tries again.
 */
export async function captureSkills(
  { input, agent }: SkilledRun,
  { config, folder, pluginSkills }: SkillFolders & { readonly config: Config },
): Promise<CapturedSkills> {
  const { skills: names, workspaceSkills = false, promptMode } = agent;
  const isWithout = promptMode === 'minimal' || promptMode === 'none' || (names === undefined && !workspaceSkills);
  if (isWithout) return NO_SKILLS;
  const workspace = workspaceSkills ? input.context?.workspace : undefined;
  try {
    const found = await findSkills({ worker: folder, plugins: pluginSkills, workspace });
    const allowed = allowedSkills(found.skills, agent);
    const matched = matchSkills(allowed, taskText(input.task));
    const known = [...(config.tools ?? []).map(({ name }) => name), ...BUILT_IN_TOOLS];
    const added = await addedTools(matched, { workspace: input.context?.workspace, known });
    return {
      // a list without the tool that reads them would be of no use
      ...listFor(agent.blockedTools?.includes(READ_SKILL) ? [] : allowed),
      listChangesWith: workspace === undefined ? 'config' : 'workspace',
      expanded: agent.expandSkills ? await expand(matched, input) : [],
      tools: added.tools,
      needsWorkspace: workspace !== undefined,
      notices: [...missingNotices(names, found), ...problemNotices(found), ...added.notices],
    };
  } catch (error) {
    throw failure('Input.Invalid', `SKILLS cannot be read: ${messageOf(error)}`, { cause: error, nonRetryable: false });
  }
}

function taskText(task: RunInput['task']): string {
  return typeof task === 'string' ? task : task.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function listFor(skills: readonly Skill[]): Pick<CapturedSkills, 'listed' | 'omitted'> {
  let chars = 0;
  const fitting = skills.findIndex(({ name, description, path }) => {
    chars += name.length + description.length + path.length;
    return chars > SKILL_LIMITS.listCharsMax;
  });
  const listed = fitting === -1 ? skills : skills.slice(0, fitting);
  return { listed: listed.map(({ name, description, path }) => ({ name, description, path })), omitted: skills.length - listed.length };
}

/** The texts of the best skills. Braces that are no variable of the run stay as they are. */
async function expand(matched: readonly Skill[], { context }: RunInput): Promise<CapturedSkills['expanded']> {
  return await Promise.all(
    matched.slice(0, SKILL_LIMITS.expandedMax).map(async (skill) => {
      const text = await readSkillText(skill, context?.workspace);
      return { name: skill.name, text: fillKnown(text, context?.variables ?? {}) };
    }),
  );
}

function fillKnown(text: string, variables: Readonly<Record<string, string>>): string {
  return Object.keys(variables).length === 0 ? text : fillTemplate(text, variables).text;
}

/** What the tools of matching skills are checked with. */
interface ToolRules {
  readonly workspace: string | undefined;
  readonly known: readonly string[];
}

/** The tools of matching skills. Files of a workspace give no rights: neither its skills, nor those of a worker's folder inside it. */
async function addedTools(matched: readonly Skill[], rules: ToolRules): Promise<Pick<CapturedSkills, 'tools' | 'notices'>> {
  const tools = new Set<string>();
  const notices: string[] = [];
  for (const { name, from, folder, allowedTools } of matched) {
    if (from === 'workspace' || allowedTools.length === 0 || (await isInside(folder, rules.workspace))) continue;
    const { names, unknown } = translateTools(allowedTools, rules.known);
    for (const tool of names) tools.add(tool);
    if (unknown.length > 0) notices.push(`skill ${name}: no tool named ${unknown.map(echoValue).join(', ')}; they are not added`);
  }
  return { tools, notices };
}

async function isInside(folder: string, workspace: string | undefined): Promise<boolean> {
  if (workspace === undefined) return false;
  const [inner, outer] = await Promise.all([realpath(folder), realpath(workspace)]);
  return inner === outer || inner.startsWith(`${outer}${sep}`);
}

function missingNotices(names: AgentDefinition['skills'], { skills }: FoundSkills): string[] {
  const known = skills.map(({ name }) => name);
  const missing = names === 'all' ? [] : (names ?? []).filter((name) => !known.includes(name));
  return missing.map((name) => `no skill named ${echoValue(name)}${didYouMean(name, known)}`);
}

function problemNotices({ problems }: FoundSkills): string[] {
  return problems.map((problem) => `skill left out: ${problem}`);
}
