import { ApplicationFailure, ChildWorkflowFailure, rootCause } from '@temporalio/common';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import type { AwaitRunResult } from '../../contracts/activities.js';
import type { RunInput, RunResult } from '../../contracts/schemas/run.js';
import { awaitRun } from '../temporal/subagent-proxies.js';
import type { ActiveRun, Session } from './session.js';
import type { QueuedSend } from './session-queue.js';

type RunChild = ChildWorkflowHandle<(input: RunInput) => Promise<RunResult>>;

/**
 * Reports the end of the active run to the session. The server reports it to the history that started the run; a later history asks an
 * activity. Returns at once.
 */
export function followRun(session: Session, { runId, executionId }: ActiveRun, handle: RunChild | undefined): void {
  // not awaited: messages are passed to the run meanwhile
  void report(session, handle ? resultOf(handle) : awaitRun({ runId, executionId }));
}

async function report(session: Session, end: Promise<AwaitRunResult>): Promise<void> {
  session.end = await end;
}

/**
 * Settles the active run, once: it answered its messages, and those that were passed to it and that it consumed. The others wait again, before
 * all messages but an interrupting one.
 */
export function settleRun(session: Session): void {
  const { active, end } = session;
  if (!active || !end) return;
  session.active = undefined;
  session.end = undefined;
  const result = end.kind === 'ended' ? end.result : undefined;
  const returned = active.steered.filter((message) => result !== undefined && !isConsumed(message, result));
  for (const { id } of returned) session.events.add({ type: 'message.returned', id, runId: active.runId });
  session.queue.putBack(returned, session.rules);
  const consumed = active.steered.filter((message) => !returned.includes(message)).map(({ id }) => id);
  const run = { runId: active.runId, messageIds: [...active.messageIds, ...consumed], reason: result?.reason ?? 'lost' };
  session.addRun(run);
  session.events.add({ type: 'session.run.ended', ...run });
  if (result?.conversation) session.conversation = result.conversation;
}

/** True for a message that reached the model. A run that was lost tells nothing: its messages count as its own. */
function isConsumed({ id }: QueuedSend, { unconsumed, steers = [] }: RunResult): boolean {
  const record = steers.findLast((steer) => steer.id === id);
  if (record?.state === 'merged' && record.into !== undefined) return !unconsumed.some((message) => message.id === record.into);
  if (record) return record.state === 'delivered';
  return !unconsumed.some((message) => message.id === id);
}

async function resultOf(handle: RunChild): Promise<AwaitRunResult> {
  try {
    return { kind: 'ended', result: await handle.result() };
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    const result: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (isResult(result)) return { kind: 'ended', result };
    return { kind: 'lost', why: rootCause(error) ?? 'its workflow ended without a result' };
  }
}

/** The whole result is in the details of a run that failed. */
function isResult(value: unknown): value is RunResult {
  return typeof value === 'object' && value !== null && 'runId' in value && 'usage' in value && 'reason' in value;
}
