import type { Message } from '../../../contracts/schemas/message.js';

/** The target of a compaction. Tokens are estimates. */
export interface CompactionGoal {
  readonly tokensMax: number;
  /** The newest messages within this many tokens are kept unchanged. 0: only the last group is. */
  readonly keepRecentTokens: number;
  readonly taskId: string;
}

/**
 * Makes a transcript shorter.
 *
 * Contract: pure and deterministic. The task, the first user message, the last answer with its results and everything after it stay
 * unchanged. A call stays with its result. Nothing gets longer, and a second pass with the same goal changes nothing. When the goal cannot
 * be reached, the result is as short as possible. Unchanged messages, and an unchanged transcript, are returned as the same objects.
 */
export type Compactor = (messages: readonly Message[], goal: CompactionGoal) => readonly Message[];
