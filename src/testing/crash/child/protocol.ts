import { z } from 'zod';

/**
 * Moments of an activity. `before`: its code has not started. `inside`: a tool has started, or a model is answering. `after`: its effect is
 * made and its result is not reported. `reported`: the worker has reported its result.
 */
const BoundaryPoint = z.enum(['before', 'inside', 'after', 'reported']);

/** One boundary that a worker process has reached. */
export const Boundary = z.object({
  point: BoundaryPoint,
  /** Type of the activity. */
  activity: z.string(),
  /** Name of the tool, if the activity belongs to a tool call. */
  tool: z.string().optional(),
  runId: z.string(),
});
export type Boundary = z.infer<typeof Boundary>;

/** A tool of the config, as far as a check depends on it. */
export const ToolFacts = z.object({ name: z.string(), pure: z.boolean(), hasReconcile: z.boolean() });
export type ToolFacts = z.infer<typeof ToolFacts>;

/** Message from a worker process. A boundary with a `ticket` waits for a `go` with that ticket. */
export const FromWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), tools: z.array(ToolFacts) }),
  z.object({ kind: z.literal('boundary'), boundary: Boundary, ticket: z.number().optional() }),
]);
export type FromWorker = z.infer<typeof FromWorker>;

/** Message to a worker process. `slow-disk` delays each of its file calls below the state folder; 0 ends the delay. */
export const ToWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('go'), ticket: z.number() }),
  z.object({ kind: z.literal('slow-disk'), delayMs: z.number() }),
]);
export type ToWorker = z.infer<typeof ToWorker>;

/** Settings of a worker process: its first argument, as JSON. */
export const WorkerSettings = z.object({
  /** Absolute path of the config file. */
  configFile: z.string(),
  /** The scripted model of the runs, which the config does not name. */
  model: z.string(),
  /** Address of the server, or of a proxy in front of it. */
  address: z.string(),
  namespace: z.string(),
  taskQueue: z.string(),
  stateDir: z.string(),
  effectLog: z.string(),
  /** File with workflow code that is used in place of the package's own. */
  bundleFile: z.string().optional(),
});
export type WorkerSettings = z.infer<typeof WorkerSettings>;
