import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/common';
import { WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { failure, messageOf } from '../runtime/failures.js';

const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 5_000;

/** The limits of a query with retries. */
export interface PatienceOptions {
  readonly signal: AbortSignal;
  /** @default 60 s */
  readonly queryMsMax?: number;
}

/**
 * Queries a run's workflow, and retries for a minute, because a query fails while no worker runs the workflow. Throws
 * `Transcript.Unavailable` when it fails for longer or the server does not have the run, and the signal's reason when the signal is aborted.
 */
export async function patientQuery<T>(runId: string, query: () => Promise<T>, options: PatienceOptions): Promise<T> {
  const until = Date.now() + (options.queryMsMax ?? WORKER_LIMITS.transcriptQueryMsMax);
  for (let waitMs = WAIT_MS_MIN; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    try {
      return await query();
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof WorkflowNotFoundError || Date.now() + waitMs > until) {
        throw failure('Transcript.Unavailable', `no worker answers for the transcript of ${runId}: ${messageOf(error)}`);
      }
      await delay(waitMs, undefined, { signal: options.signal });
    }
  }
}
