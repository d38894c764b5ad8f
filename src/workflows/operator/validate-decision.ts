import type { DecidedApproval } from '../../contracts/schemas/approval.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

/**
 * Validates a decision from any client. Throws `Input.Invalid` with a message that begins with `BAD_ANSWER`, `NO_SUCH_APPROVAL`,
 * `RUN_CLOSED` or `RUN_ENDING`, or names the earlier decision.
 */
export function checkDecision(run: Run, verb: 'approve' | 'deny', callId: string): void {
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  const earlier = earlierDecision(run, callId);
  if (earlier) throw inputFailure(`already decided: ${describeDecision(earlier)} at ${earlier.at}`);
  if (!run.approvals.pending(callId)) {
    throw inputFailure(
      `NO_SUCH_APPROVAL: call ${JSON.stringify(callId.slice(0, 80))} has no pending approval. Query 'approvals' lists the pending ones.`,
    );
  }
  if (run.mustStop) throw inputFailure('RUN_ENDING: the run is stopping and starts no further call');
  if (verb === 'approve' && callId === BUDGET_APPROVAL)
    throw inputFailure('BAD_ANSWER: a budget request cannot be approved. Extend the budget, or deny the request.');
}

/** How an approval ended, for a person and for the model: `approved by U`, `denied by U`, `denied (timed out)`. */
export function describeDecision({ decision, by }: Pick<DecidedApproval, 'decision' | 'by'>): string {
  if (decision === 'expired') return 'denied (timed out)';
  return `${decision} by ${by}`;
}

/** The earlier decision about a call. An expired approval counts as denied, also before the loop has ended it. */
function earlierDecision({ approvals }: Run, callId: string): Pick<DecidedApproval, 'decision' | 'by' | 'at'> | undefined {
  const pending = approvals.pending(callId);
  if (!pending) return approvals.decided(callId);
  if (pending.expires === undefined || Date.parse(pending.expires) > Date.now()) return undefined;
  return { decision: 'expired', by: '', at: pending.expires };
}
