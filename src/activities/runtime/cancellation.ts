import { CancelledFailure, Context } from '@temporalio/activity';
import type { StoppedDetails } from '../../contracts/activities.js';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { withinTime } from './call-signal.js';
import { failure } from './failures.js';
import { ownershipOf } from './ownership.js';

/** Why an activity's signal was aborted. Only `user` lets the activity return; everything else is rethrown. */
export type CancellationCause = 'none' | 'user' | 'shutdown' | 'lost' | 'other';

/**
 * Distinguishes a user's cancel (or the run's deadline) from a worker's shutdown, from the loss of contact with the server, and from an
 * operator's pause or reset.
 */
export function cancellationCause(context: Context = Context.current()): CancellationCause {
  if (!context.cancellationSignal.aborted) return ownershipOf(context)?.isLost === true ? 'lost' : 'none';
  const details = context.cancellationDetails;
  if (details?.workerShutdown) return 'shutdown';
  if (details?.cancelRequested) return 'user';
  return 'other';
}

/**
 * Throws for any cancellation but a user's: `Worker.Shutdown`, after which the workflow decides by effect, or CancelledFailure for an
 * attempt whose result is ignored. `progress`: the last heartbeat details.
 */
export function throwUnlessUser(cause: CancellationCause, what: string, progress?: StoppedDetails): void {
  const details = progress === undefined ? {} : { details: [progress] };
  if (cause === 'shutdown') throw failure('Worker.Shutdown', `the worker was shut down during ${what}`, details);
  if (cause === 'lost') {
    const stopped = { ...(progress ?? { phase: 'stopped', elapsedMs: 0 }), why: 'lost contact' } satisfies StoppedDetails;
    throw failure('Worker.Shutdown', `the worker lost contact with the server and stopped ${what}`, { details: [stopped] });
  }
  if (cause === 'other') throw new CancelledFailure(`this attempt of ${what} is no longer the current one`);
}

/** The signal of an attempt: aborted by any cancellation, and when the attempt is lost. */
export function attemptSignal(context: Context = Context.current()): AbortSignal {
  const lost = ownershipOf(context)?.signal;
  return lost ? AbortSignal.any([context.cancellationSignal, lost]) : context.cancellationSignal;
}

/**
 * The signal for gates and hooks: aborted by a cancellation, and before the activity's own timeout, so that the decision can still be
 * returned. After a timeout of Temporal all gates and hooks would run again.
 */
export function decisionSignal(): AbortSignal {
  const { cancellationSignal, info } = Context.current();
  const ms = Math.max(1, info.startToCloseTimeoutMs - TOOL_LIMITS.timeoutMarginMs);
  return withinTime([cancellationSignal], ms);
}

/** Throws when the activity was cancelled for any reason: the decision of gates and hooks is not needed then. */
export function throwIfStopped(what: string): void {
  const cause = cancellationCause();
  throwUnlessUser(cause, what);
  if (cause === 'user') throw new CancelledFailure(`the run was stopped during ${what}`);
}
