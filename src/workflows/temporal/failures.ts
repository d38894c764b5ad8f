import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import { cutText, redact } from '../../contracts/text/redact.js';
import { fitMessages } from '../policies/transcript/truncate-messages.js';

/** The failure of an activity as data. `type`: a type of the failure table, `Timeout.*` or `Cancelled`. */
export interface ActivityProblem {
  readonly type: string;
  readonly message: string;
  readonly workerLost: boolean;
  readonly cancelled: boolean;
  readonly notPolled: boolean;
  /** The details of the last heartbeat of a lost worker, or of the failure. */
  readonly lastHeartbeat?: unknown;
}

/** Converts an error that an activity call threw. Rethrows any other error, because a defect must not look like a failing tool. */
export function readActivityProblem(error: unknown): ActivityProblem {
  if (error instanceof CancelledFailure) return { ...PLAIN, type: 'Cancelled', message: 'cancelled', cancelled: true };
  if (!(error instanceof ActivityFailure)) throw error;
  const cause = error.cause;
  if (cause instanceof CancelledFailure) {
    return { ...PLAIN, type: 'Cancelled', message: 'cancelled', cancelled: true, lastHeartbeat: cause.details?.[0] };
  }
  if (cause instanceof TimeoutFailure) {
    return {
      ...PLAIN,
      type: `Timeout.${cause.timeoutType}`,
      message: cause.message,
      workerLost: cause.timeoutType === 'HEARTBEAT',
      notPolled: cause.timeoutType === 'SCHEDULE_TO_START',
      lastHeartbeat: cause.lastHeartbeatDetails,
    };
  }
  if (cause instanceof ApplicationFailure) {
    const type = cause.type ?? 'Error';
    return { ...PLAIN, type, message: clip(cause.message), workerLost: LOSSES.has(type), lastHeartbeat: cause.details?.[0] };
  }
  return { ...PLAIN, type: 'Error', message: clip(error.message) };
}

/** A call that was aborted although the run did not cancel it. It is handled like the loss of a worker. */
export function lostAttempt(lastHeartbeat: unknown): ActivityProblem {
  return { ...PLAIN, type: 'Cancelled', message: 'aborted from outside the run', workerLost: true, lastHeartbeat };
}

/** The failure types of a lost attempt: its worker died or was shut down, or an operator paused or reset the activity. */
const LOSSES = new Set(['Worker.Died', 'Worker.Shutdown', 'ActivityPause', 'ActivityReset']);

const PLAIN = { workerLost: false, cancelled: false, notPolled: false };

/** The failure that ends a run with reason `error`: `details[0]` is the whole result, output cut to fit. */
export function runFailure(result: RunResult): ApplicationFailure {
  const type = result.error?.type ?? 'Run.Failed';
  const share = PAYLOAD_LIMITS.failureDetailsBytesMax / 3;
  const details = { ...result, output: cutText(result.output, share), unconsumed: fitMessages(result.unconsumed, share) };
  return ApplicationFailure.create({ type, message: result.error?.message ?? 'the run failed', nonRetryable: true, details: [details] });
}

/** The failure that rejects a handler's input. A rejected update leaves no trace in history. */
export function inputFailure(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Input.Invalid', message: clip(message), nonRetryable: true });
}

function clip(text: string): string {
  return redact(cutText(text, PAYLOAD_LIMITS.failureMessageBytesMax));
}
