import type { RunSetup } from '../../contracts/activities.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { RunContext } from '../../contracts/schemas/run-context.js';
import type { PromptMode } from '../../define/agent/agent-prompt.js';
import type { ResolvedPrompt } from './agent-prompt.js';
import type { BootstrapFiles } from './bootstrap-files.js';
import type { CapturedSkills } from './skills.js';

/** The facts of the run's surroundings. There is no clock time, so that the prompt stays equal for the provider's cache. */
export interface RuntimeFacts {
  /** `2026-11-23` */
  readonly date: string;
  readonly timeZone: string;
  /** `Linux x64` */
  readonly os: string;
  readonly model: string;
  /** `tools, images, thinking`: what the model is known to support. */
  readonly abilities: readonly string[];
}

/** The parts of a system prompt. */
export interface PromptParts {
  readonly agent: string;
  readonly description: string;
  /** Absent: the standard sections. */
  readonly mode: PromptMode | undefined;
  readonly base: ResolvedPrompt;
  /** The system texts of the input's messages. */
  readonly given: string;
  /** Instructions of the config, by name. */
  readonly instructions: Readonly<Record<string, string>>;
  readonly context: RunContext | undefined;
  /** Absent in modes without the section. */
  readonly runtime: RuntimeFacts | undefined;
  readonly files: BootstrapFiles;
  readonly skills: CapturedSkills;
  /** What was recalled for the run. Empty without memory. */
  readonly memory: string;
  readonly rules: readonly string[];
  /** The JSON Schema of the final answer. */
  readonly outputSchema: RunInput['outputSchema'];
}

/** What a section depends on: the config alone, the files of the workspace, the day, or the input of the run. */
export type ChangesWith = 'config' | 'workspace' | 'day' | 'run';

/** A section of a built prompt. */
export interface PromptSection {
  readonly name: string;
  readonly text: string;
  readonly changesWith: ChangesWith;
}

/** A system prompt with its sections. `given`: the range of the system texts of the input's messages. */
export interface BuiltPrompt extends Pick<RunSetup, 'given'> {
  readonly prompt: string;
  readonly sections: readonly PromptSection[];
}

/** The modes of a section: those of an agent, and `standard` for an agent without a mode. */
type Mode = PromptMode | 'standard';

interface Section {
  readonly name: string;
  readonly order: number;
  /** The predicate: a section without text is left out too. */
  readonly modes: readonly Mode[];
  readonly changesWith: ChangesWith | ((parts: PromptParts) => ChangesWith);
  readonly text: (parts: PromptParts) => string;
}

const ALWAYS: readonly Mode[] = ['standard', 'full', 'minimal', 'none'];
const PROMPTED: readonly Mode[] = ['standard', 'full', 'minimal'];

/** Every section of a prompt. Schemas of tools are sent beside the prompt, so no section repeats them. */
const SECTIONS: readonly Section[] = [
  { name: 'identity', order: 10, modes: ['full', 'none'], changesWith: 'config', text: identity },
  {
    name: 'agent',
    order: 20,
    modes: PROMPTED,
    changesWith: ({ base }) => (base.isFixed ? 'config' : 'run'),
    text: ({ base }) => base.text,
  },
  { name: 'given', order: 30, modes: ALWAYS, changesWith: 'run', text: ({ given }) => given },
  { name: 'instructions', order: 40, modes: PROMPTED, changesWith: 'config', text: configInstructions },
  { name: 'project', order: 50, modes: PROMPTED, changesWith: 'run', text: project },
  { name: 'mode', order: 60, modes: PROMPTED, changesWith: 'run', text: ({ context }) => work(context) },
  { name: 'workspace', order: 70, modes: PROMPTED, changesWith: 'workspace', text: ({ context }) => workspace(context) },
  { name: 'variables', order: 80, modes: PROMPTED, changesWith: 'run', text: variables },
  { name: 'runtime', order: 90, modes: ['full', 'minimal'], changesWith: 'day', text: runtime },
  { name: 'files', order: 100, modes: PROMPTED, changesWith: 'workspace', text: workspaceFiles },
  { name: 'skills', order: 110, modes: ['standard', 'full'], changesWith: ({ skills }) => skills.listChangesWith, text: listedSkills },
  { name: 'skill-texts', order: 120, modes: ['standard', 'full'], changesWith: 'run', text: expandedSkills },
  { name: 'memory', order: 125, modes: ['standard', 'full'], changesWith: 'run', text: ({ memory }) => memory },
  { name: 'rules', order: 130, modes: PROMPTED, changesWith: 'config', text: rules },
  { name: 'sub-agent', order: 140, modes: PROMPTED, changesWith: 'run', text: ({ context }) => subAgent(context) },
  { name: 'answer', order: 150, modes: ALWAYS, changesWith: 'run', text: ({ outputSchema }) => answerFormat(outputSchema) },
];

/** Builds the system prompt: the sections of the agent's mode that have a text, in their order, with an empty line between them. Pure. */
export function buildPrompt(parts: PromptParts): BuiltPrompt {
  const mode = parts.mode ?? 'standard';
  const sections = SECTIONS.filter(({ modes }) => modes.includes(mode))
    .toSorted((a, b) => a.order - b.order)
    .map(({ name, text, changesWith }) => ({
      name,
      text: text(parts),
      changesWith: typeof changesWith === 'function' ? changesWith(parts) : changesWith,
    }))
    .filter(({ text }) => text !== '');
  const at = sections.findIndex(({ name }) => name === 'given');
  const prompt = sections.map(({ text }) => text).join(GAP);
  if (at === -1) return { prompt, sections };
  const from = sections.slice(0, at).reduce((length, { text }) => length + text.length + GAP.length, 0);
  return { prompt, sections, given: { from, to: from + parts.given.length } };
}

/** Between two sections. */
const GAP = '\n\n';

function identity({ agent, description }: PromptParts): string {
  return `You are the agent ${agent}. ${description}`.trim();
}

function configInstructions({ instructions }: PromptParts): string {
  const entries = Object.entries(instructions).filter(([, text]) => text.trim() !== '');
  return entries.map(([name, text]) => instruction(name, text)).join(GAP);
}

function project({ context, mode }: PromptParts): string {
  const folder = mode !== undefined && context?.workspace ? [`Work folder: ${context.workspace}`] : [];
  return [...(context?.projectPath ? [`Project: ${context.projectPath}`] : []), ...folder].join('\n');
}

function work(context: RunContext | undefined): string {
  const { mode, component, componentType, file, selection } = context ?? {};
  const typed = componentType ? ` (${componentType})` : '';
  const lines = [
    ...(mode === 'code' ? ['You work on code: read before you edit, change as little as needed, and check what you changed.'] : []),
    ...(mode === 'ui' ? [`You work on a user interface.${component ? ` Component: ${component}${typed}` : ''}`] : []),
    ...(file ? [`File: ${file}`] : []),
    ...(selection ? [`Selection:\n\n${selection}`] : []),
  ];
  return lines.join('\n');
}

function workspace(context: RunContext | undefined): string {
  if (!context?.workspace) return '';
  return 'You have a workspace folder. Paths of the workspace tools are relative to it; nothing outside it can be reached.';
}

function variables({ context, base }: PromptParts): string {
  return Object.entries(context?.variables ?? {})
    .filter(([name, value]) => value !== '' && !base.used.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function runtime({ runtime: facts, context }: PromptParts): string {
  if (!facts) return '';
  const { date, timeZone, os, model, abilities } = facts;
  return [
    `Date: ${date} (time zone ${timeZone})`,
    `System: ${os}`,
    `Model: ${model}${abilities.length > 0 ? ` (${abilities.join(', ')})` : ''}`,
    ...(context?.channel ? [`Channel: ${context.channel}`] : []),
  ].join('\n');
}

function workspaceFiles({ files: { files, missing }, instructions }: PromptParts): string {
  // a workspace may be the folder whose files the config imports
  const known = new Set(Object.values(instructions).map((text) => text.trim()));
  const own = files.filter(({ text }) => !known.has(text.trim()));
  const absent = missing.length === 0 ? [] : [`[not in this workspace: ${missing.join(', ')}]`];
  return [...own.map(({ name, text }) => instruction(name, text)), ...absent].join(GAP);
}

function instruction(name: string, text: string): string {
  return `# Instructions from ${name}\n\n${text.trim()}`;
}

const SKILLS_INTRODUCTION =
  'Skills are instructions for special tasks. When a task fits a description, read the skill with read_skill before you start, and follow it.';

function listedSkills({ skills: { listed, omitted } }: PromptParts): string {
  if (listed.length === 0) return '';
  const lines = listed.map(({ name, description, path }) => `- ${name}: ${description} (${path})`);
  const rest = omitted === 0 ? [] : [`[${omitted} more skills are not listed]`];
  return [`# Skills\n\n${SKILLS_INTRODUCTION}\n`, ...lines, ...rest].join('\n');
}

function expandedSkills({ skills: { expanded } }: PromptParts): string {
  return expanded.map(({ name, text }) => `# Skill ${name}\n\n${text.trim()}`).join(GAP);
}

function rules({ rules: given }: PromptParts): string {
  return given.length === 0 ? '' : `# Rules\n\n${given.map((rule) => `- ${rule}`).join('\n')}`;
}

function subAgent(context: RunContext | undefined): string {
  return context?.subAgentContext ? `# Context from the calling agent\n\n${context.subAgentContext.trim()}` : '';
}

function answerFormat(schema: PromptParts['outputSchema']): string {
  if (!schema) return '';
  return `# Form of the answer\n\nYour last answer must be one JSON value that fits this JSON Schema, and no other text:\n\n${JSON.stringify(schema)}`;
}
