import { arch, type as osType } from 'node:os';
import { givenSystemText } from '../../contracts/message-text.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import { modelFacts } from '../../models/model-facts.js';
import { failure, messageOf } from '../runtime/failures.js';
import { resolveAgentPrompt } from './agent-prompt.js';
import { type BootstrapFiles, readBootstrapFiles } from './bootstrap-files.js';
import { readInstructionFiles } from './instruction-files.js';
import { type BuiltPrompt, buildPrompt, type RuntimeFacts } from './prompt.js';
import type { CapturedSkills } from './skills.js';

/** The run whose prompt is captured. */
export interface CapturedRun {
  readonly runId: string;
  readonly input: RunInput;
  /** Name of the agent. */
  readonly name: string;
  readonly agent: AgentDefinition;
  /** The first model of the route. */
  readonly model: string;
  readonly skills: CapturedSkills;
  /** The section about the memory; empty without one. */
  readonly memory: string;
  /** When the run was started, ISO 8601. A retry has the same date. @default now */
  readonly startedAt: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads everything that a system prompt consists of, once, and builds it. Throws `Input.Invalid` and `Input.Workspace`. */
export async function capturePrompt(run: CapturedRun, config: Config): Promise<BuiltPrompt> {
  const { input, agent, name, skills } = run;
  const { context } = input;
  const { promptMode: mode } = agent;
  const [base, files] = await Promise.all([
    mode === 'none' ? NO_PROMPT : resolveAgentPrompt({ ...run, context }),
    readFiles(context?.workspace, mode),
  ]);
  return buildPrompt({
    agent: name,
    description: agent.description,
    mode,
    base,
    given: givenSystemText(input.messages),
    instructions: config.instructions ?? {},
    context,
    // the first look at time zones takes 20 ms
    runtime: mode === 'full' || mode === 'minimal' ? runtimeFacts(run, config) : undefined,
    files,
    skills,
    memory: run.memory,
    rules: agent.rules ?? [],
    outputSchema: input.outputSchema,
  });
}

const NO_PROMPT = { text: '', used: new Set<string>(), isFixed: true };

const NO_FILES: BootstrapFiles = { files: [], missing: [] };

async function readFiles(workspace: string | undefined, mode: AgentDefinition['promptMode']): Promise<BootstrapFiles> {
  if (workspace === undefined || mode === 'none') return NO_FILES;
  try {
    if (mode === undefined) return { files: await readInstructionFiles(workspace), missing: [] };
    return await readBootstrapFiles(workspace, mode);
  } catch (error) {
    throw failure('Input.Workspace', `WORKSPACE ${workspace}: its instructions cannot be read: ${messageOf(error)}`);
  }
}

function runtimeFacts({ model, startedAt, input }: CapturedRun, config: Config): RuntimeFacts {
  const timeZone = input.context?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const { tools, images, thinkingStyle } = modelFacts(model, config);
  const abilities = [
    ...(tools ? ['tools'] : []),
    ...(images ? ['images'] : []),
    ...(thinkingStyle !== undefined && thinkingStyle !== 'none' ? ['thinking'] : []),
  ];
  const date = startedAt === undefined ? new Date() : new Date(startedAt);
  // this language writes year, month and day with dashes
  return { date: date.toLocaleDateString('sv-SE', { timeZone }), timeZone, os: `${osType()} ${arch()}`, model, abilities };
}
