import { RUN_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message } from '../../../contracts/schemas/message.js';

/** What the decision needs: one call per turn, before its request. */
export interface WarningFacts {
  readonly warned: boolean;
  /** Turns left, the one about to start included. */
  readonly remainingTurns: number;
  /** From this many on; 0 turns the warning off, the one before a deadline too. @default 3 */
  readonly atRemainingTurns?: number;
  readonly deadlineMs: number | undefined;
  readonly leftMs: number | undefined;
}

/** True for exactly one request of a run: the first near its cap, or within the deadline's grace. */
export function shouldWarn(facts: WarningFacts): boolean {
  const { warned, remainingTurns, atRemainingTurns = RUN_LIMITS.finaliseAtRemainingTurns } = facts;
  if (warned || atRemainingTurns === 0) return false;
  return remainingTurns <= atRemainingTurns || inGrace(facts);
}

/** The warning, for one request only: it is never stored in the transcript. `text` replaces the default one entirely. */
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
          `[notice] ${turns}. Finish what is open, start no new chain of tool calls, bring any plan or checklist into line with ` +
            'what was really done, and then answer in plain text.',
      },
    ],
  };
}

function inGrace({ deadlineMs, leftMs }: WarningFacts): boolean {
  if (deadlineMs === undefined || leftMs === undefined) return false;
  return leftMs <= Math.min(RUN_LIMITS.deadlineGraceMsMax, deadlineMs * RUN_LIMITS.deadlineGraceFraction);
}
