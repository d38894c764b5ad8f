import { WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { AGENT_SESSION, SESSION_HANDLERS, sessionId } from '../../contracts/handlers.js';
import type { Receipt } from '../../contracts/schemas/run.js';
import type { SendInput, SessionInput } from '../../contracts/schemas/session.js';
import { signedSend } from '../../contracts/signature.js';
import { describeSession } from '../../contracts/text/describe-session.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { isTimeout, noWorker, refusedUpdate, unfinishedTask } from '../temporal/errors.js';

/** A message with its id, and the session that takes it. */
export interface SentMessage {
  readonly session: SessionInput;
  readonly message: SendInput & { readonly id: string };
}

/**
 * Sends a message and returns the receipt. The first message starts the session, in the same request, so that two of them start it once. Throws
 * `NO_WORKER` (5) when no worker accepts it within 5 s, or the worker is lost: it may still be accepted, and the same id sends it once.
 */
export async function sendWithReceipt(access: TemporalAccess, { session, message }: SentMessage): Promise<Receipt> {
  const deadline = Date.now() + CLIENT_LIMITS.updateTimeoutMs;
  const args = [await signedMessage(access, { session, message })] as const;
  const startWorkflowOperation = new WithStartWorkflowOperation(AGENT_SESSION, await startOf(access, session));
  // the promise of the start rejects with the update, which reports the error
  startWorkflowOperation.workflowHandle().catch(() => undefined);
  try {
    return await access.client.withDeadline(deadline, () =>
      access.client.workflow.executeUpdateWithStart(SESSION_HANDLERS.send, { args: [...args], startWorkflowOperation }),
    );
  } catch (error) {
    const consequence = `no receipt, the message may still be accepted; send again with the same id ${message.id}`;
    if (isTimeout(error, deadline)) throw noWorker(access.taskQueue, consequence);
    const unfinished = unfinishedTask(error, consequence);
    if (unfinished) throw unfinished;
    throw error instanceof WorkflowUpdateFailedError ? refusedUpdate(error) : access.translate(error, sessionId(session.key));
  }
}

/** Sends a message as a signal, which the server keeps while no worker runs. Starts the session if there is none. */
export async function sendDurably(access: TemporalAccess, { session, message }: SentMessage): Promise<void> {
  const signalArgs = [await signedMessage(access, { session, message })] as const;
  const start = await startOf(access, session);
  await access.ask(
    () =>
      access.client.workflow.signalWithStart(AGENT_SESSION, { ...start, signal: SESSION_HANDLERS.message, signalArgs: [...signalArgs] }),
    sessionId(session.key),
  );
}

/** The start of a session. One that exists is used as it is. */
async function startOf(access: TemporalAccess, input: SessionInput) {
  const workflowId = sessionId(input.key);
  const auth = input.auth ?? (await access.sign({ verb: 'start', runId: workflowId, input }));
  return {
    workflowId,
    taskQueue: access.taskQueue,
    args: [auth === undefined ? input : { ...input, auth }],
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    ...describeSession(input),
  };
}

/** The message with the signature of the server's owner, which is no field of the verb. */
async function signedMessage(access: TemporalAccess, { session, message }: SentMessage): Promise<SendInput & { readonly auth?: string }> {
  const auth = await access.sign(signedSend(sessionId(session.key), message));
  return auth === undefined ? message : { ...message, auth };
}
