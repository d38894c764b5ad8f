import type { DecidedApproval } from '../../contracts/schemas/approval.js';
import type { Run } from '../state/run.js';
import { describeDecision } from './validate-decision.js';
import { showDecision } from './wait.js';

/** How an approval ends: decided, expired, or cancelled by the run. */
export type ApprovalEnd = Pick<DecidedApproval, 'decision' | 'by'> & { readonly reason?: string };

/**
 * Ends a pending approval and records an event. Returns undefined when none is pending. Update handlers call it too: no command, no await.
 */
export function endApproval(run: Run, callId: string, end: ApprovalEnd): DecidedApproval | undefined {
  const pending = run.approvals.pending(callId);
  const decided = run.approvals.decide({ callId, at: new Date().toISOString(), ...end });
  if (!pending || !decided) return undefined;
  run.events.add({ type: 'approval.decided', callId, tool: decided.tool, ...end });
  showDecision(run, `${pending.title}: ${describeDecision(end)}`);
  return decided;
}

/** Denies the approvals that have expired. */
export function expireApprovals(run: Run): void {
  for (const { callId } of run.approvals.due(Date.now())) endApproval(run, callId, { decision: 'expired', by: 'nobody' });
}
