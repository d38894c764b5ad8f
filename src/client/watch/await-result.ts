import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { CLIENT_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { progress as progressQuery, result as resultQuery } from '../../contracts/handlers.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { UnreadMessage } from '../../contracts/schemas/page.js';
import { type Progress, type Reason, RunResult } from '../../contracts/schemas/run.js';
import { cutMiddle, redact } from '../../contracts/text/redact.js';
import { signalOfRequests, type TemporalAccess } from '../temporal/connection.js';
import { isConnectionLoss, toPerdureError } from '../temporal/errors.js';
import { readUnread } from '../temporal/read-messages.js';

/** Options of `awaitResult`. */
export interface AwaitResultOptions {
  /** Stops waiting. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Called once per lost connection. The wait continues. */
  readonly onConnectionLost?: (error: unknown) => void;
}

/**
 * Waits until a run is closed, through lost connections and server restarts. Returns a result for every end, including a failed,
 * cancelled or terminated run. Throws `RUN_NOT_FOUND`, or the reason of the signal.
 */
export async function awaitResult(access: TemporalAccess, handle: WorkflowHandle, options: AwaitResultOptions): Promise<RunResult> {
  const signal = options.signal ?? new AbortController().signal;
  let retryMs: number = CLIENT_LIMITS.reconnectMsMin;
  while (true) {
    signal.throwIfAborted();
    try {
      const value: unknown = await access.client.withAbortSignal(signalOfRequests(signal), () => handle.result());
      return await withUnread(readResult(value, handle.workflowId), access, handle);
    } catch (error) {
      signal.throwIfAborted();
      if (!isConnectionLoss(error)) return await resultOfFailed(access, handle, error);
      if (retryMs === CLIENT_LIMITS.reconnectMsMin) options.onConnectionLost?.(error);
    }
    await delay(retryMs, undefined, { signal });
    retryMs = Math.min(retryMs * 2, CLIENT_LIMITS.reconnectMsMax);
  }
}

function readResult(value: unknown, runId: string): RunResult {
  const parsed = RunResult.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new PerdureError('NOT_A_RUN', `workflow ${runId} has no run result; it is not an agent run`, 3);
}

async function resultOfFailed(access: TemporalAccess, handle: WorkflowHandle, error: unknown): Promise<RunResult> {
  const carried = resultInFailure(error);
  if (carried) return await withUnread(carried, access, handle);
  const known = toPerdureError(error, access.subject(handle.workflowId));
  if (known instanceof PerdureError) throw known;
  const fact = closedFact(error);
  const answered = await access.query(handle, resultQuery).catch(withoutWorker);
  const parsed = RunResult.safeParse(answered);
  if (parsed.success) return await withUnread(parsed.data, access, handle);
  // a terminated run has no result, but a worker can replay its last state
  const progress: Progress | undefined =
    answered === undefined ? undefined : await access.query(handle, progressQuery).catch(withoutWorker);
  const { runId: executionId } = await access.ask(() => handle.describe(), handle.workflowId);
  const unread = progress === undefined ? undefined : await readUnread(access, handle).catch(withoutWorker);
  return resultFromFact(fact, { runId: handle.workflowId, executionId, progress, unread });
}

/** A result whose undelivered messages were cut gets them whole, if a worker is running. */
async function withUnread(result: RunResult, access: TemporalAccess, handle: WorkflowHandle): Promise<RunResult> {
  if (!result.unconsumedCut) return result;
  const unread = await readUnread(access, handle).catch(withoutWorker);
  if (!unread) return result;
  const { unconsumedCut: _, ...whole } = result;
  return { ...whole, unconsumed: unread.map(plain) };
}

function plain({ id, text }: UnreadMessage): RunResult['unconsumed'][number] {
  return { id, text };
}

/** Ignores a missing worker, or one that cannot replay the run. The result is then built from the data of the server. */
function withoutWorker(error: unknown): undefined {
  if (!(error instanceof Error)) throw error;
}

/** The end of a run without its own result: a reason and an error. */
export interface ClosedFact {
  readonly reason: Extract<Reason, 'cancelled' | 'error'>;
  readonly error?: { readonly type: string; readonly message: string };
}

/** The result in the failure of a failed run (`details[0]`), or undefined. */
function resultInFailure(error: unknown): RunResult | undefined {
  if (!(error instanceof WorkflowFailedError) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const parsed = RunResult.safeParse(error.cause.details?.[0]);
  return parsed.success ? parsed.data : undefined;
}

/** The end of a run according to the server. Rethrows an error that is not the end of a run. */
function closedFact(error: unknown): ClosedFact {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  const message = redact(cutMiddle(cause?.message ?? error.message, PAYLOAD_LIMITS.failureMessageBytesMax));
  if (cause instanceof CancelledFailure) return { reason: 'cancelled' };
  if (cause instanceof TerminatedFailure) return { reason: 'error', error: { type: 'Run.Terminated', message } };
  if (cause instanceof TimeoutFailure) return { reason: 'error', error: { type: 'Run.TimedOut', message } };
  const type = cause instanceof ApplicationFailure && cause.type ? cause.type : 'Run.Failed';
  return { reason: 'error', error: { type, message } };
}

/** What is known of a run without its own result. Without a worker there are no `progress` and no `unread` messages. */
interface ClosedRun {
  readonly runId: string;
  readonly executionId: string;
  readonly progress: Progress | undefined;
  readonly unread: readonly UnreadMessage[] | undefined;
}

/** Builds a result from the data of the server. Without a worker usage and turns are 0. */
function resultFromFact(fact: ClosedFact, run: ClosedRun): RunResult {
  const { progress, unread } = run;
  const turns = progress?.turn ?? 0;
  return {
    v: 1,
    runId: run.runId,
    executionId: run.executionId,
    reason: fact.reason,
    output: '',
    turns,
    toolCalls: 0,
    usage: progress?.usage ?? NO_USAGE,
    ...(progress?.costUsd === undefined ? {} : { costUsd: progress.costUsd }),
    models: progress ? [progress.model] : [],
    unconsumed: unread?.map(plain) ?? [],
    ...(unread ? {} : { unconsumedCut: true }),
    ...(fact.error ? { error: { ...fact.error, turn: turns } } : {}),
  };
}
