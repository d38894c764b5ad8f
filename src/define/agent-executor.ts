import { z } from 'zod';

/**
 * An agent of another framework as a child process. It speaks JSON Lines on stdin and stdout, and calls Perdure's tools. Each of its
 * batches of calls is a turn, so gates, approvals, budgets and guards apply as they do for a model.
 */
export const SubprocessExecutor = z.strictObject({
  /** Selects this executor. */
  kind: z.literal('subprocess'),
  /** The program. */
  command: z.string().min(1),
  /** Its arguments. @default none */
  args: z.array(z.string()).optional(),
  /** Variables: values, or references such as `env:NAME`. The child also gets the variables of workspace commands. @default none */
  env: z.record(z.string(), z.string()).optional(),
  /** Working folder. @default the run's workspace, else the worker's folder */
  cwd: z.string().optional(),
  /** The child can start from a transcript. A lost process is then restarted; otherwise it fails the run. @default false */
  resume: z.boolean().optional(),
  /** Longest time between two of its answers. @default 5 minutes */
  timeoutMs: z
    .number()
    .int()
    .min(1_000)
    .max(24 * 60 * 60 * 1_000)
    .optional(),
  /** Longest time that it waits for results of its calls, pending approvals included. Then the process is ended. @default 10 minutes */
  idleMs: z
    .number()
    .int()
    .min(1_000)
    .max(24 * 60 * 60 * 1_000)
    .optional(),
});
export type SubprocessExecutor = z.infer<typeof SubprocessExecutor>;

/** Answers each run with the same text, without a model. Use it to test the surroundings of an agent. */
export const StubExecutor = z.strictObject({
  /** Selects this executor. */
  kind: z.literal('stub'),
  /** Text of every answer. */
  answer: z.string(),
});
export type StubExecutor = z.infer<typeof StubExecutor>;

/** The source of an agent's answers: a model (`llm`), a child process (`subprocess`), or a fixed text (`stub`). */
export const AgentExecutor = z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('llm') }), SubprocessExecutor, StubExecutor]);
export type AgentExecutor = z.infer<typeof AgentExecutor>;
