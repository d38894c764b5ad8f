import { z } from 'zod';
import { JsonValue } from './message.js';
import { SamplingBounds } from './sampling.js';

/**
 * Side effect of a tool, which decides about retries: `read` may be repeated and run in parallel, `idempotent` may be retried with the
 * same idempotency key, `once` is started at most once.
 */
export const Effect = z.enum(['read', 'idempotent', 'once']);
export type Effect = z.infer<typeof Effect>;

/** A tool as the workflow sees it: data without functions, captured once when the run starts. */
export const ToolDescriptor = z.strictObject({
  /** Name, as the model sees it. */
  name: z.string(),
  /** Description, as the model sees it. */
  description: z.string(),
  /** JSON Schema of the arguments. */
  schema: z.record(z.string(), JsonValue),
  /** Side effect, which decides about retries. */
  effect: Effect,
  /** Time limit of a call, in milliseconds. */
  timeoutMs: z.number().int().positive(),
  /** Equal arguments give an equal result. */
  pure: z.boolean(),
  /** The tool has an `approval`. */
  approval: z.boolean(),
  /** A gate, hook or approval of the config applies to this tool: activity `checkTool` runs before each call. */
  checked: z.boolean().optional(),
  /** False for a tool that reaches no other machine. @default true */
  network: z.boolean().optional(),
  /** The run answers the calls itself: with the answer of a person, or after a time. No activity runs. */
  waits: z.enum(['question', 'sleep']).optional(),
  /** Its calls may ask the person of the run: those of an MCP server with `elicitation`. */
  asks: z.boolean().optional(),
  /** Its calls may request completions of the run's model: those of an MCP server with `sampling`. */
  samples: SamplingBounds.optional(),
  /** The tool has a `reconcile`. */
  hasReconcile: z.boolean(),
  /** True for built-in workspace tools. They run on the queue of the host that has the workspace. */
  workspace: z.boolean(),
});
export type ToolDescriptor = z.infer<typeof ToolDescriptor>;

/** How a tool call ended. `unknown`: it was started, and its end is not known. */
export type ToolOutcome = 'ok' | 'failed' | 'timeout' | 'cancelled' | 'unknown';
