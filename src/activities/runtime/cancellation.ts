import { CancelledFailure, Context } from '@temporalio/activity';
import type { HeartbeatDetails } from '../../contracts/activities.js';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { failure } from './failures.js';

/** Why an activity's signal was aborted. Only `user` lets the activity return; everything else is rethrown. */
export type CancellationCause = 'none' | 'user' | 'shutdown' | 'other';

/** Tells a user's cancel (or the run's deadline) from a worker's shutdown and from an operator's pause or reset. */
export function cancellationCause(context: Context = Context.current()): CancellationCause {
  if (!context.cancellationSignal.aborted) return 'none';
  const details = context.cancellationDetails;
  if (details?.workerShutdown) return 'shutdown';
  if (details?.cancelRequested) return 'user';
  return 'other';
}

/**
 * Throws what a cancellation that is no user's must end in: the workflow decides by effect, or nobody listens any more. `progress`
 * is what a last heartbeat would say.
 */
export function throwUnlessUser(cause: CancellationCause, what: string, progress?: HeartbeatDetails): void {
  const details = progress === undefined ? {} : { details: [progress] };
  if (cause === 'shutdown') throw failure('Worker.Shutdown', `the worker was shut down during ${what}`, details);
  if (cause === 'other') throw new CancelledFailure(`this attempt of ${what} is no longer the live one`);
}

/**
 * For work that only decides: aborted when it is stopped, and early enough for its answer to arrive before the activity's own time is
 * over. A timeout of Temporal's would ask everybody again.
 */
export function decisionSignal(): AbortSignal {
  const { cancellationSignal, info } = Context.current();
  const ms = Math.max(1, info.startToCloseTimeoutMs - TOOL_LIMITS.timeoutMarginMs);
  return AbortSignal.any([cancellationSignal, AbortSignal.timeout(ms)]);
}

/** For work that only decides: once its call is stopped, whoever stopped it, there is nothing left to decide. */
export function throwIfStopped(what: string): void {
  const cause = cancellationCause();
  throwUnlessUser(cause, what);
  if (cause === 'user') throw new CancelledFailure(`the run was stopped during ${what}`);
}
