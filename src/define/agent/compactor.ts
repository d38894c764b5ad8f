import type { Message } from '../../contracts/schemas/message.js';

/** Argument of a custom compactor. */
export interface CompactorContext {
  /** A copy of the old messages to replace, oldest first, without the task and the newest messages. */
  readonly messages: Message[];
  /** Target size in tokens, at four characters a token. */
  readonly tokensMax: number;
  /** Id of the run. */
  readonly runId: string;
  /** Aborted on a cancel, a timeout and a shutdown of the worker. */
  readonly signal: AbortSignal;
}

/**
 * A custom compactor, for the compaction strategy `custom`.
 *
 * Contract: the returned messages replace the given ones. Return them as `{ id, role: "user", origin: "summary", parts }`. The compactor
 * may throw, and may be called again for the same messages. A call without its result, or a result without its call, is repaired. A
 * return value that is longer than the input, or not a list of messages, is rejected, and the next strategy is tried.
 */
export type CustomCompactor = (context: CompactorContext) => Promise<Message[]> | Message[];
