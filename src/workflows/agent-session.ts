import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { allHandlersFinished, CancellationScope, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { SessionInput } from '../contracts/schemas/session.js';
import { serveQueue } from './session/serve-queue.js';
import { type CarriedSession, Session } from './session/session.js';
import { publishSession, serveSessionDetails } from './session/session-attributes.js';
import { registerSessionHandlers } from './session/session-handlers.js';
import { readSessionStart } from './session/session-start.js';
import { prepareSession } from './temporal/session-proxies.js';

/**
 * One conversation: answers its messages with one run at a time. It stays open until it is cancelled by Temporal, which drops its waiting
 * messages and then cancels its active run. `state` is the state that continue-as-new carried over.
 */
export async function agentSession(input: SessionInput, state?: CarriedSession): Promise<void> {
  const given = readSessionStart(input, state);
  const session = new Session(given.input, given.state);
  session.problem = given.problem;
  registerSessionHandlers(session);
  serveSessionDetails(session);
  watchCancellation(session);
  // a cancel drops messages and stops the run in the loop, which needs its activities
  await CancellationScope.nonCancellable(() => serve(session, given.state !== undefined));
}

async function serve(session: Session, isContinued: boolean): Promise<void> {
  await prepare(session, isContinued);
  const end = session.problem === undefined ? await serveQueue(session) : 'refused';
  await condition(allHandlersFinished);
  if (end === 'continue-as-new') await continueAsNew(session);
  // nothing is awaited from here on: what was accepted is reported
  session.queue.dropAll(session.problem ?? 'the session was cancelled');
  if (session.problem !== undefined)
    throw ApplicationFailure.create({ type: 'Input.Invalid', message: session.problem, nonRetryable: true });
  throw new CancelledFailure('the session was cancelled');
}

/** Captures the options of channel and config, in each history anew: they may have changed. */
async function prepare(session: Session, isContinued: boolean): Promise<void> {
  if (session.problem !== undefined) return;
  const { workflowId, startTime, runId } = workflowInfo();
  const started = { at: startTime.toISOString(), executionId: runId };
  const prepared = await prepareSession({ sessionId: workflowId, input: session.input, ...(isContinued ? {} : { started }) });
  if ('problem' in prepared) {
    session.problem = prepared.problem;
    return;
  }
  session.prepare(prepared);
  if (!session.prepared?.signed) for (const { id } of session.queue.unchecked()) session.queue.admit(id);
  if (isContinued) session.events.add({ type: 'session.continued', executionId: runId });
  else publishSession(session);
}

async function continueAsNew(session: Session): Promise<never> {
  const { memo, startTime } = workflowInfo();
  const next = makeContinueAsNewFunc<typeof agentSession>({ memo: { ...memo, startedAt: memo?.['startedAt'] ?? startTime.toISOString() } });
  // a session continues as new only after it was prepared
  const { prepared = { queue: {}, searchAttributes: [] } } = session;
  return await next(session.input, session.carry(prepared));
}

/** Temporal's own cancellation ends a session: its waiting messages are dropped at once. */
function watchCancellation(session: Session): void {
  const { cancelRequested } = CancellationScope.current();
  void cancelRequested.catch(() => {
    session.isCancelled = true;
    session.queue.dropAll('the session was cancelled');
  });
}
