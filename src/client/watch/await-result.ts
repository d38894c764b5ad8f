import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { CLIENT_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { progress as progressQuery, result as resultQuery } from '../../contracts/handlers.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { type Progress, type Reason, RunResult } from '../../contracts/schemas/run.js';
import { cutText, redact } from '../../contracts/text/redact.js';
import { signalOfRequests, type TemporalAccess } from '../temporal/connection.js';
import { isConnectionLoss, toPerdureError } from '../temporal/errors.js';

/** How to wait for a run's end. */
export interface AwaitResultOptions {
  /** Gives the waiting up; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told once each time the connection is lost; the waiting goes on. */
  readonly onConnectionLost?: (error: unknown) => void;
}

/**
 * Waits until a run is closed, through lost connections and restarts of the server, and gives its result whatever its end: a failed,
 * cancelled or terminated run has one too. Throws `RUN_NOT_FOUND`, or the signal's reason.
 */
export async function awaitResult(access: TemporalAccess, handle: WorkflowHandle, options: AwaitResultOptions): Promise<RunResult> {
  const signal = options.signal ?? new AbortController().signal;
  let retryMs: number = CLIENT_LIMITS.reconnectMsMin;
  while (true) {
    signal.throwIfAborted();
    try {
      const value: unknown = await access.client.withAbortSignal(signalOfRequests(signal), () => handle.result());
      return readResult(value, handle.workflowId);
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
  throw new PerdureError('NOT_A_RUN', `workflow ${runId} ended without a run's result: it is not one of ours`, 3);
}

async function resultOfFailed(access: TemporalAccess, handle: WorkflowHandle, error: unknown): Promise<RunResult> {
  const carried = resultInFailure(error);
  if (carried) return carried;
  const known = toPerdureError(error, access.subject(handle.workflowId));
  if (known instanceof PerdureError) throw known;
  const fact = closedFact(error);
  const answered = await access.query(handle, resultQuery).catch(withoutWorker);
  const parsed = RunResult.safeParse(answered);
  if (parsed.success) return parsed.data;
  // a terminated run never came to make a result, but its last state can be replayed
  const progress: Progress | undefined =
    answered === undefined ? undefined : await access.query(handle, progressQuery).catch(withoutWorker);
  const { runId: executionId } = await access.ask(() => handle.describe(), handle.workflowId);
  return resultFromFact(fact, { runId: handle.workflowId, executionId, progress });
}

/** No worker to ask, or one that cannot replay the run: the facts that Temporal knows have to do. */
function withoutWorker(error: unknown): undefined {
  if (!(error instanceof Error)) throw error;
}

/** What a closed run left, when its own result is not at hand: a reason and the error to show. */
export interface ClosedFact {
  readonly reason: Extract<Reason, 'cancelled' | 'error'>;
  readonly error?: { readonly type: string; readonly message: string };
}

/** The whole result that a failed run carries in its failure (`details[0]`); undefined when it carries none. */
function resultInFailure(error: unknown): RunResult | undefined {
  if (!(error instanceof WorkflowFailedError) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const parsed = RunResult.safeParse(error.cause.details?.[0]);
  return parsed.success ? parsed.data : undefined;
}

/** What Temporal itself says of a run that ended without a result. Rethrows what is no run's end. */
function closedFact(error: unknown): ClosedFact {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  const message = redact(cutText(cause?.message ?? error.message, PAYLOAD_LIMITS.failureMessageBytesMax));
  if (cause instanceof CancelledFailure) return { reason: 'cancelled' };
  if (cause instanceof TerminatedFailure) return { reason: 'error', error: { type: 'Run.Terminated', message } };
  if (cause instanceof TimeoutFailure) return { reason: 'error', error: { type: 'Run.TimedOut', message } };
  const type = cause instanceof ApplicationFailure && cause.type ? cause.type : 'Run.Failed';
  return { reason: 'error', error: { type, message } };
}

/** A result made of what is known from outside. `progress` is missing when no worker could be asked: then usage and turns read 0. */
function resultFromFact(fact: ClosedFact, run: { runId: string; executionId: string; progress: Progress | undefined }): RunResult {
  const { progress } = run;
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
    unconsumed: [],
    ...(fact.error ? { error: { ...fact.error, turn: turns } } : {}),
  };
}
