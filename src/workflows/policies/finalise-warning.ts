import { RUN_LIMITS } from '../../contracts/limits.js';
import type { Message } from '../../contracts/message.js';

/** What the decision needs: one call per turn, before its request. */
export interface WarningFacts {
  readonly warned: boolean;
  /** Turns left, the one about to start included. */
  readonly remainingTurns: number;
  readonly deadlineMs: number | undefined;
  readonly leftMs: number | undefined;
}

/** True for exactly one request of a run: the first near its cap, or within the deadline's grace. */
export function shouldWarn(facts: WarningFacts): boolean {
  if (facts.warned) return false;
  return facts.remainingTurns <= RUN_LIMITS.finaliseAtRemainingTurns || inGrace(facts);
}

/** The warning, for one request only: it is never stored in the transcript. */
export function finaliseWarning(remainingTurns: number): Message {
  const turns = remainingTurns === 1 ? '1 turn remains, this one' : `${remainingTurns} turns remain, this one included`;
  return {
    id: 'finalise-warning',
    role: 'user',
    origin: 'nudge',
    parts: [
      {
        type: 'text',
        text:
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
