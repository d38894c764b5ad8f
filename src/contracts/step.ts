import { z } from 'zod';
import { Usage } from './schemas/model.js';

/** How one turn of a run went: query `steps`, also after the end. Times are milliseconds since 1970. */
export const Step = z.strictObject({
  agent: z.string(),
  index: z.number().int(),
  status: z.enum(['running', 'success', 'failed', 'timeout', 'cancelled']),
  started: z.number(),
  ended: z.number().optional(),
  durationMs: z.number().optional(),
  usage: Usage.optional(),
  /** Names the calls of the turn with their arguments; absent without calls. */
  toolSignature: z.string().optional(),
  /** The run, so that steps of several runs can be told apart. */
  group: z.string(),
});
export type Step = z.infer<typeof Step>;
