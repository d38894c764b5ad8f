import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { progress as progressQuery, result as resultQuery } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { type Progress, RunResult } from '../../contracts/schemas/run.js';
import { closedFact, resultFromFact, resultInFailure } from '../closed-result.js';
import { signalOfRequests } from '../signal-of-requests.js';
import type { TemporalAccess } from '../temporal/connection.js';
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
