import { z } from 'zod';
import { PROMPT_LIMITS } from '../../contracts/constants/limits.js';
import type { RunContext } from '../../contracts/schemas/run-context.js';

/** Argument of a `prompt` that is a function: the run whose prompt it makes. */
export interface PromptContext {
  /** Name of the agent. */
  readonly agent: string;
  /** Id of the run. */
  readonly runId: string;
  /** `context` of the input. Empty without one. */
  readonly context: RunContext;
  /** `context.variables` of the input. Empty without any. */
  readonly variables: Readonly<Record<string, string>>;
  /** Aborted after the time limit of 10 s. */
  readonly signal: AbortSignal;
}

/**
 * A prompt as a function of the run.
 *
 * Contract: an activity calls it once when a run starts, and the run keeps its text. It is called again if the worker is lost meanwhile. A
 * function that throws or exceeds its time limit fails the start. An empty text means no instructions of the agent.
 */
export type PromptFunction = (context: PromptContext) => string | Promise<string>;

/** The `prompt` of an agent: a text, or a function of the run. */
export const AgentPrompt = z.union([
  z.string().min(1),
  z.custom<PromptFunction>((value) => typeof value === 'function', 'a function of the run'),
]);
export type AgentPrompt = z.infer<typeof AgentPrompt>;

/**
 * How much a system prompt contains. `full`: every section. `minimal`: without identity, skills and memory, for sub-agents. `none`: one line
 * with the identity, without the agent's prompt.
 */
export const PromptMode = z.enum(['full', 'minimal', 'none']);
export type PromptMode = z.infer<typeof PromptMode>;

/** The options of an agent that decide about its system prompt and its skills. */
export const PromptOptions = z.strictObject({
  /** Fills `{{name}}` in `prompt` with the run's `context.variables.name`. A missing variable fails the start. @default false */
  promptTemplate: z.boolean().optional(),
  /** Sections of the system prompt. @default the agent's prompt, project, mode, workspace, variables, instruction files, skills and rules */
  promptMode: PromptMode.optional(),
  /** Rules at the end of the system prompt, one line each. @default none */
  rules: z.array(z.string().min(1).max(PROMPT_LIMITS.ruleCharsMax)).max(PROMPT_LIMITS.rulesMax).optional(),
  /** Skills of the worker's folder that the prompt lists: their names, or all. @default none */
  skills: z.union([z.literal('all'), z.array(z.string())]).optional(),
  /** Also uses skills of the run's workspace. With a list of names, only those. @default false */
  workspaceSkills: z.boolean().optional(),
  /** Puts the text of skills that match the task into the prompt. @default false: the model reads it with `read_skill` */
  expandSkills: z.boolean().optional(),
});
export type PromptOptions = z.infer<typeof PromptOptions>;
