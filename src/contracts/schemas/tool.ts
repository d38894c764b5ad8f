import { z } from 'zod';
import { JsonValue } from './message.js';

/**
 * What a tool does to the world:
 * `read` may repeat and run in parallel · `idempotent` may be tried again with the same key · `once` is started at most once.
 */
export const Effect = z.enum(['read', 'idempotent', 'once']);
export type Effect = z.infer<typeof Effect>;

/** What the workflow knows of a tool, captured once at the start of a run: data only, no function. */
export const ToolDescriptor = z.strictObject({
  name: z.string(),
  description: z.string(),
  /** JSON Schema of the arguments. */
  schema: z.record(z.string(), JsonValue),
  effect: Effect,
  timeoutMs: z.number().int().positive(),
  pure: z.boolean(),
  approval: z.boolean(),
  /** A gate, hook or approval of the config has a say in this tool's calls: activity `checkTool` is asked before each. */
  checked: z.boolean().optional(),
  /** It reaches other machines, as far as is known. @default true */
  network: z.boolean().optional(),
  hasReconcile: z.boolean(),
  /** True for the built-in workspace tools, which run on the queue of the host that has the folder. */
  workspace: z.boolean(),
});
export type ToolDescriptor = z.infer<typeof ToolDescriptor>;
