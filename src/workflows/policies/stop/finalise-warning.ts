import { RUN_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message } from '../../../contracts/schemas/message.js';

/** The facts for the decision, before each request. */
export interface WarningFacts {
  readonly warned: boolean;
  /** Remaining turns, the next one included. */
  readonly remainingTurns: number;
  /** The warning is sent from this number of remaining turns on. 0 turns it off, also near a deadline. @default 3 */
  readonly atRemainingTurns?: number;
  readonly deadlineMs: number | undefined;
  readonly leftMs: number | undefined;
}

/** True for exactly one request of a run: the first near its turn limit, or within the grace period of the deadline. */
export function shouldWarn(facts: WarningFacts): boolean {
  const { warned, remainingTurns, atRemainingTurns = RUN_LIMITS.finaliseAtRemainingTurns } = facts;
  if (warned || atRemainingTurns === 0) return false;
  return remainingTurns <= atRemainingTurns || inGrace(facts);
}

/** The warning. It is in one request only, never in the transcript. `text` replaces the default text. */
export function finaliseWarning(remainingTurns: number, text?: string): Message {
  const turns = remainingTurns === 1 ? '1 turn remains, this one' : `${remainingTurns} turns remain, this one included`;
  return {
    id: 'finalise-warning',
    role: 'user',
    origin: 'nudge',
    parts: [
      {
        type: 'text',
        text:
          text ??
          `[notice] ${turns}. Finish what is open, start no new chain of tool calls, update any plan or checklist to match ` +
            'what was done, and then answer in plain text.',
      },
    ],
  };
}

function inGrace({ deadlineMs, leftMs }: WarningFacts): boolean {
  if (deadlineMs === undefined || leftMs === undefined) return false;
  return leftMs <= Math.min(RUN_LIMITS.deadlineGraceMsMax, deadlineMs * RUN_LIMITS.deadlineGraceFraction);
}
