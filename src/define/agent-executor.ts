import { z } from 'zod';

/**
 * An agent of another framework as a child process: JSON Lines on its stdin and stdout, our tools offered to it. Each of its batches of
 * calls is a turn, so that gates, approvals, budgets and guards hold for it as they do for a model.
 */
export const SubprocessExecutor = z.strictObject({
  kind: z.literal('subprocess'),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  /** Values, or references such as `env:NAME`; beside them the child gets only what a command of the workspace tools gets. */
  env: z.record(z.string(), z.string()).optional(),
  /** @default the run's workspace, else the worker's folder */
  cwd: z.string().optional(),
  /** The child can begin from a transcript: a lost process is started again with what was said so far. @default false: it fails the run */
  resume: z.boolean().optional(),
  /** The longest time between two of its answers. @default 5 minutes */
  timeoutMs: z
    .number()
    .int()
    .min(1_000)
    .max(24 * 60 * 60 * 1_000)
    .optional(),
  /** How long it is kept while it waits for the results of its calls, also for a person who approves one. @default 10 minutes */
  idleMs: z
    .number()
    .int()
    .min(1_000)
    .max(24 * 60 * 60 * 1_000)
    .optional(),
});
export type SubprocessExecutor = z.infer<typeof SubprocessExecutor>;

/** Answers each run with the same text, without a model: for tests of what is around an agent. */
export const StubExecutor = z.strictObject({ kind: z.literal('stub'), answer: z.string() });
export type StubExecutor = z.infer<typeof StubExecutor>;

/** What does an agent's thinking: a model, a child process, or nothing. */
export const AgentExecutor = z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('llm') }), SubprocessExecutor, StubExecutor]);
export type AgentExecutor = z.infer<typeof AgentExecutor>;
