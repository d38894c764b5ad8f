import { z } from 'zod';
import { INPUT_LIMITS } from '../constants/limits.js';

/**
 * The conversation up to a run, by reference: the whole transcript of a closed run, which keeps its own messages and refers to those before
 * them in the same way. A session passes it from run to run.
 */
export const Conversation = z.strictObject({
  /** Id of the run that the conversation ends with. */
  runId: z.string().max(INPUT_LIMITS.workflowIdCharsMax),
  /** Its last execution. */
  executionId: z.string(),
  /** Number of messages, including those before the run. */
  length: z.number().int().min(0),
  /** Digest of these messages. */
  digest: z.string(),
  /** Estimated bytes of these messages: their JSON in UTF-16 units. */
  bytes: z.number().int().min(0),
  /** Estimated tokens of these messages. */
  tokens: z.number().int().min(0),
  /** Number of runs that the conversation refers to. */
  runs: z.number().int().min(1),
  /** When the oldest of them ended, in milliseconds since 1970. */
  since: z.number(),
});
export type Conversation = z.infer<typeof Conversation>;
