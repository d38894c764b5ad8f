import { MODEL_LIMITS } from '../contracts/constants/limits.js';
import type { ModelTimes } from '../contracts/schemas/model-route.js';

/** How long one attempt may take, complete. */
export interface AttemptTimes {
  readonly idleMs: number;
  /** @default idleMs */
  readonly firstByteMs?: number;
  readonly totalMs: number;
}

/** The times of an attempt: the model's own, else the worker's; the total ends before the activity's own timeout, so that our error arrives. */
export function attemptTimes(
  times: ModelTimes = {},
  worker: { readonly idleMs: number | undefined; readonly startToCloseMs: number },
): AttemptTimes {
  const idleMs = times.idleMs ?? worker.idleMs ?? MODEL_LIMITS.streamIdleMs;
  return {
    idleMs,
    ...(times.firstByteMs === undefined ? {} : { firstByteMs: times.firstByteMs }),
    totalMs: Math.max(1_000, worker.startToCloseMs - MODEL_LIMITS.turnTimeoutMarginMs),
  };
}
