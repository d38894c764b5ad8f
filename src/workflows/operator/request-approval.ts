import { condition } from '@temporalio/workflow';
import { DECISION_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { jsonLine } from '../../contracts/text/sanitize-text.js';
import type { Run } from '../state/run.js';
import type { GoOn } from './pause-and-hold.js';
import { publishAttributes, publishStatus } from './progress.js';
import { endApproval, expireApprovals } from './settle-approval.js';
import { whileWaiting } from './wait.js';

/** What a person said, or why nobody did. `continue-as-new`: ask the same again in the next history, where it still waits. */
export type PersonsAnswer = 'approved' | 'denied' | 'expired' | 'stopped' | 'continue-as-new';

/** Asks one thing and waits for the answer, for days if need be. The clock stands still; a cancel ends the wait at once. */
export async function askPerson(run: Run, approval: PendingApproval): Promise<PersonsAnswer> {
  const { callId } = approval;
  const isAnswered = (): boolean => run.approvals.pending(callId) === undefined;
  if (isAnswered()) openApprovals(run, [approval]);
  while (!isAnswered()) {
    const outcome = await waitForPeople(run, { reason: waitReason([approval]), isOver: isAnswered });
    if (outcome === 'continue-as-new') return outcome;
    if (outcome === 'stop') return giveUp(run, callId);
  }
  const decision = run.approvals.decided(callId)?.decision;
  return decision === 'approved' || decision === 'expired' ? decision : 'denied';
}

/** Puts approvals before people, all of a batch at once. */
export function openApprovals(run: Run, approvals: readonly PendingApproval[]): void {
  for (const approval of approvals) {
    run.approvals.ask(approval);
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

/** What waits for nothing but people, and when the wait is over. */
export interface PeopleWait {
  readonly reason: string;
  readonly isOver: () => boolean;
}

/**
 * Waits until a decision, an expiry, a stop, or a history too long to wait in. `go`: look again. Nothing else may run meanwhile: the
 * clock stands still.
 */
export async function waitForPeople(run: Run, { reason, isOver }: PeopleWait): Promise<GoOn> {
  run.clock.stop();
  await whileWaiting(run, reason, async () => {
    publishAttributes(run, { AgentStatus: run.status });
    const isAwake = (): boolean => isOver() || run.mustStop || run.historyIsLong();
    const { nextExpiry } = run.approvals;
    if (nextExpiry === undefined) await condition(isAwake);
    else
      await condition(isAwake, Math.max(1, nextExpiry - Date.now()), {
        summary: `waits for ${reason}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax),
      });
  });
  expireApprovals(run);
  publishPending(run);
  publishAttributes(run, { AgentStatus: run.status });
  if (!run.mustStop && !isOver() && run.historyIsLong()) return 'continue-as-new';
  run.clock.start();
  return run.mustStop ? 'stop' : 'go';
}

/** Tells operators how many decisions are asked for: a history event, so only when the number changed. */
export function publishPending(run: Run): void {
  const { pendingCount, publishedCount } = run.approvals;
  publishStatus(run);
  if (pendingCount === publishedCount) return;
  run.approvals.publishedCount = pendingCount;
  publishAttributes(run, { AgentPendingApprovals: pendingCount });
}

/** What a run waits for, as operators read it: the first of the calls, and how many more. */
export function waitReason([first, ...more]: readonly PendingApproval[]): string {
  if (first?.callId === BUDGET_APPROVAL) return first.title;
  return `approval of ${first?.title ?? 'a call'}${more.length === 0 ? '' : ` and ${more.length} more`}`;
}

function giveUp(run: Run, callId: string): 'stopped' {
  endApproval(run, callId, { decision: 'cancelled', by: 'the run', reason: 'the run stops' });
  publishPending(run);
  return 'stopped';
}
