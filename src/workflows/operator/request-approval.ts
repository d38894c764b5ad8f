import { condition } from '@temporalio/workflow';
import { DECISION_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { PendingQuestion } from '../../contracts/schemas/question.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { jsonLine } from '../../contracts/text/sanitize-text.js';
import type { Run } from '../state/run.js';
import type { Continuation } from './pause-and-hold.js';
import { publishAttributes } from './progress.js';
import { endApproval, expireApprovals } from './settle-approval.js';
import { expireQuestions, questionLine } from './settle-question.js';
import { whileWaiting } from './wait.js';

/** How an approval ended. `stopped`: the run stops. `continue-as-new`: request it again in the next history, where it is still pending. */
export type ApprovalOutcome = 'approved' | 'denied' | 'expired' | 'stopped' | 'continue-as-new';

/** Requests one approval and waits for the decision, with the work clock stopped. A cancel ends the wait immediately. */
export async function requestApproval(run: Run, approval: PendingApproval): Promise<ApprovalOutcome> {
  const { callId } = approval;
  const isDecided = (): boolean => run.approvals.pending(callId) === undefined;
  if (isDecided()) openApprovals(run, [approval]);
  while (!isDecided()) {
    const outcome = await waitForDecisions(run, { reason: waitReason([approval]), isOver: isDecided });
    if (outcome === 'continue-as-new') return outcome;
    if (outcome === 'stop') return cancelApproval(run, callId);
  }
  const decision = run.approvals.decided(callId)?.decision;
  return decision === 'approved' || decision === 'expired' ? decision : 'denied';
}

/** Opens approvals, all of a batch at once. */
export function openApprovals(run: Run, approvals: readonly PendingApproval[]): void {
  for (const approval of approvals) {
    run.approvals.add(approval);
    const { turn, callId, tool, title, args, askedBy: by, reason = '', expires } = approval;
    run.events.add({
      type: 'approval.asked',
      turn,
      callId,
      tool,
      title,
      args: jsonLine(args, DECISION_LIMITS.argsInLineBytesMax),
      by,
      reason,
      ...(expires === undefined ? {} : { expires }),
    });
  }
  publishPending(run);
}

/** A wait in which only people are waited for, and when it is over. */
export interface DecisionWait {
  readonly reason: string;
  readonly isOver: () => boolean;
}

/**
 * Waits for a decision, an answer, an expiry, a stop, or a history that is too long. `go`: check what is pending again. The work clock is stopped, so
 * nothing else may run meanwhile.
 */
export async function waitForDecisions(run: Run, { reason, isOver }: DecisionWait): Promise<Continuation> {
  run.clock.stop();
  await whileWaiting(run, reason, async () => {
    publishAttributes(run, { AgentStatus: run.status });
    const isAwake = (): boolean => isOver() || run.mustStop || run.historyIsLong();
    const nextExpiry = earlier(run.approvals.nextExpiry, run.questions.nextExpiry);
    if (nextExpiry === undefined) await condition(isAwake);
    else
      await condition(isAwake, Math.max(1, nextExpiry - Date.now()), {
        summary: `waiting for ${reason}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax),
      });
  });
  expireApprovals(run);
  expireQuestions(run);
  publishPending(run);
  publishAttributes(run, { AgentStatus: run.status });
  if (!run.mustStop && !isOver() && run.historyIsLong()) return 'continue-as-new';
  run.clock.start();
  return run.mustStop ? 'stop' : 'go';
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/**
 * Publishes the number of pending approvals and questions. The search attribute is a history event, so it is written only when a number
 * changed.
 */
export function publishPending(run: Run): void {
  const { approvals, questions } = run;
  if (approvals.pendingCount === approvals.publishedCount && questions.pendingCount === questions.publishedCount) return;
  approvals.publishedCount = approvals.pendingCount;
  questions.publishedCount = questions.pendingCount;
  publishAttributes(run, { AgentPendingApprovals: approvals.pendingCount + questions.pendingCount });
}

/** The waiting reason for operators: the first approval or question, and how many more. */
export function waitReason([first, ...approvals]: readonly PendingApproval[], questions: readonly PendingQuestion[] = []): string {
  if (first?.callId === BUDGET_APPROVAL) return first.title;
  const [question, ...others] = questions;
  const more = approvals.length + (first ? questions.length : others.length);
  const what = !first && question ? `an answer to: ${questionLine(question)}` : `approval of ${first?.title ?? 'a call'}`;
  return `${what}${more === 0 ? '' : ` and ${more} more`}`;
}

function cancelApproval(run: Run, callId: string): 'stopped' {
  endApproval(run, callId, { decision: 'cancelled', by: 'the run', reason: 'the run stops' });
  publishPending(run);
  return 'stopped';
}
