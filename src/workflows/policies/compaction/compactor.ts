import type { Message } from '../../../contracts/schemas/message.js';

/** How far a transcript is to be made shorter. Tokens are estimates. */
export interface CompactionGoal {
  readonly tokensMax: number;
  /** What the newest messages keep untouched; 0: only the last group. */
  readonly keepRecentTokens: number;
  readonly taskId: string;
}

/**
 * Makes a transcript shorter.
 *
 * Contract: pure and deterministic. The task, the first message of a user, the last answer with its results and everything behind it
 * stay as they are; a call stays with its result; nothing gets longer; the same goal again changes nothing. It gives what it can when
 * the goal is out of reach. Messages that did not change are the very same objects, and so is a transcript.
 */
export type Compactor = (messages: readonly Message[], goal: CompactionGoal) => readonly Message[];
