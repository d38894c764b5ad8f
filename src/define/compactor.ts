import type { Message } from '../contracts/schemas/message.js';

/** What a config's compactor is asked. */
export interface CompactorContext {
  /** A copy of the old messages that are to become shorter, oldest first; the task and the newest messages are not among them. */
  readonly messages: Message[];
  /** About this many tokens may be left of them, at four characters a token. */
  readonly tokensMax: number;
  readonly runId: string;
  /** Aborted on a user's cancel, a timeout and a worker's shutdown. */
  readonly signal: AbortSignal;
}

/**
 * A config's own way to make a transcript shorter, for the compaction strategy `custom`.
 *
 * Contract: what it returns stands in the place of the messages it was given; each of them keeps a run going best as
 * `{ id, role: "user", origin: "summary", parts }`. It may throw, and may be called again for the same messages; a call that it parts
 * from its result is paired again. What is longer than before, or no list of messages, is refused, and the next strategy is tried.
 */
export type CustomCompactor = (context: CompactorContext) => Promise<Message[]> | Message[];
