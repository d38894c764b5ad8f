import type { DecidedApproval } from '../../contracts/schemas/approval.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

/**
 * Refuses a decision that the run cannot take, from whatever client it comes. Throws `Input.Invalid` with a message that begins with
 * `BAD_ANSWER`, `NO_SUCH_APPROVAL`, `RUN_CLOSED` or `RUN_ENDING`, or names the earlier decision.
 */
export function checkDecision(run: Run, verb: 'approve' | 'deny', callId: string): void {
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  const earlier = earlierDecision(run, callId);
  if (earlier) throw inputFailure(`already decided: ${describeDecision(earlier)} at ${earlier.at}`);
  if (!run.approvals.pending(callId)) {
    throw inputFailure(`NO_SUCH_APPROVAL: no call ${JSON.stringify(callId.slice(0, 80))} waits here; 'approvals' lists those that do`);
  }
  if (run.mustStop) throw inputFailure('RUN_ENDING: the run is stopping; nothing new starts');
  if (verb === 'approve' && callId === BUDGET_APPROVAL) throw inputFailure('BAD_ANSWER: extend the budget, or deny it');
}

/** How an approval ended, for a person and for the model: `approved by U`, `denied by U`, `denied (timed out)`. */
export function describeDecision({ decision, by }: Pick<DecidedApproval, 'decision' | 'by'>): string {
  if (decision === 'expired') return 'denied (timed out)';
  return `${decision} by ${by}`;
}

/** How the approval ended before. One whose time is over is denied, also when the loop has not come to it yet. */
function earlierDecision({ approvals }: Run, callId: string): Pick<DecidedApproval, 'decision' | 'by' | 'at'> | undefined {
  const pending = approvals.pending(callId);
  if (!pending) return approvals.decided(callId);
  if (pending.expires === undefined || Date.parse(pending.expires) > Date.now()) return undefined;
  return { decision: 'expired', by: '', at: pending.expires };
}
