import { z } from 'zod';
import { Usage } from './model.js';

/** One turn of a run, as query `steps` returns it. */
export const Step = z.strictObject({
  /** Name of the agent. */
  agent: z.string(),
  /** Index of the turn, from 0. */
  index: z.number().int(),
  /** Status of the turn. */
  status: z.enum(['running', 'success', 'failed', 'timeout', 'cancelled']),
  /** Start, in milliseconds since 1970. */
  started: z.number(),
  /** End, in milliseconds since 1970. */
  ended: z.number().optional(),
  /** Duration in milliseconds. */
  durationMs: z.number().optional(),
  /** Usage of the turn's model calls. */
  usage: Usage.optional(),
  /** Tool calls of the turn with their arguments. Absent without calls. */
  toolSignature: z.string().optional(),
  /** Number of the turn's calls whose outcome is unknown. Absent when there are none. */
  unknownOutcomes: z.number().int().optional(),
  /** Id of the run, so that you can mix steps of several runs. */
  group: z.string(),
});
export type Step = z.infer<typeof Step>;
