import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import { cutMiddle, cutText, redact } from '../../contracts/text/redact.js';
import { fitUnconsumed } from '../policies/transcript/truncate-messages.js';

/** The failure of an activity as data. `type`: a type of the failure table, `Timeout.*` or `Cancelled`. */
export interface ActivityProblem {
  readonly type: string;
  readonly message: string;
  readonly workerLost: boolean;
  readonly cancelled: boolean;
  readonly notPolled: boolean;
  /** How an attempt was lost. */
  readonly loss?: LossKind;
  /** The details of the last heartbeat of a lost worker, or of the failure. */
  readonly lastHeartbeat?: unknown;
}

/**
 * How an attempt was lost. `died`: its process is proved dead. `shut down`: its worker stopped it. `lost contact`: its worker stopped it,
 * because the server could not be reached. `unreachable`: nothing is known. `stopped`: an operator or the server ended it.
 */
export type LossKind = 'died' | 'shut down' | 'lost contact' | 'unreachable' | 'stopped';

/** Converts an error that an activity call threw. Rethrows any other error, because a defect must not look like a failing tool. */
export function readActivityProblem(error: unknown): ActivityProblem {
  if (error instanceof CancelledFailure) return { ...CANCELLED };
  if (!(error instanceof ActivityFailure)) throw error;
  const cause = error.cause;
  if (cause instanceof CancelledFailure) {
    return { ...CANCELLED, lastHeartbeat: cause.details?.[0] };
  }
  if (cause instanceof TimeoutFailure) {
    return {
      ...PLAIN,
      type: `Timeout.${cause.timeoutType}`,
      message: cause.message,
      workerLost: cause.timeoutType === 'HEARTBEAT',
      notPolled: cause.timeoutType === 'SCHEDULE_TO_START',
      loss: 'unreachable',
      lastHeartbeat: cause.lastHeartbeatDetails,
    };
  }
  if (cause instanceof ApplicationFailure) {
    const type = cause.type ?? 'Error';
    const lastHeartbeat: unknown = cause.details?.[0];
    const loss = lossOf(type, lastHeartbeat);
    return { ...PLAIN, type, message: clip(cause.message), workerLost: loss !== undefined, lastHeartbeat, ...(loss ? { loss } : {}) };
  }
  return { ...PLAIN, type: 'Error', message: clip(error.message) };
}

/** A call that was aborted although the run did not cancel it. It is handled like the loss of a worker. */
export function lostAttempt(lastHeartbeat: unknown): ActivityProblem {
  return { ...PLAIN, type: 'Cancelled', message: 'aborted from outside the run', workerLost: true, lastHeartbeat, loss: 'stopped' };
}

/** The part of an event that shows how an attempt was lost. */
export function lossShown({ loss }: ActivityProblem): { readonly why?: LossKind } {
  return loss === undefined ? {} : { why: loss };
}

/** The failure types of a lost attempt: its worker died or was shut down, or an operator paused or reset the activity. */
const LOSSES: ReadonlyMap<string, LossKind> = new Map([
  ['Worker.Died', 'died'],
  ['Worker.Shutdown', 'shut down'],
  ['ActivityPause', 'stopped'],
  ['ActivityReset', 'stopped'],
]);

function lossOf(type: string, details: unknown): LossKind | undefined {
  const loss = LOSSES.get(type);
  if (loss !== 'shut down' || typeof details !== 'object' || details === null || !('why' in details)) return loss;
  return details.why === 'lost contact' || details.why === 'unreachable' ? details.why : loss;
}

const PLAIN = { workerLost: false, cancelled: false, notPolled: false };
const CANCELLED = {
  ...PLAIN,
  type: 'Cancelled',
  message: 'cancelled',
  cancelled: true,
  loss: 'stopped',
} as const satisfies ActivityProblem;

/** The failure that ends a run with reason `error`: `details[0]` is the whole result, output cut to fit. */
export function runFailure(result: RunResult): ApplicationFailure {
  const type = result.error?.type ?? 'Run.Failed';
  const share = PAYLOAD_LIMITS.failureDetailsBytesMax / 3;
  const details = {
    ...result,
    output: cutText(result.output, share),
    ...fitUnconsumed(result.unconsumed, share),
    ...(result.unconsumedCut ? { unconsumedCut: true } : {}),
  };
  return ApplicationFailure.create({ type, message: result.error?.message ?? 'the run failed', nonRetryable: true, details: [details] });
}

/** The failure that rejects a handler's input. A rejected update leaves no trace in history. */
export function inputFailure(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Input.Invalid', message: clip(message), nonRetryable: true });
}

function clip(text: string): string {
  return redact(cutMiddle(text, PAYLOAD_LIMITS.failureMessageBytesMax));
}

/** What the timeline of the Web UI adds to a call that is made again. */
export function afterLoss(losses: number): string {
  return losses === 0 ? '' : ', again: its worker was lost';
}
