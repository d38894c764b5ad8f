import { setTimeout as delay } from 'node:timers/promises';
import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import { ChannelError, errorKindOf } from '../contract/channel-error.js';

/** How requests to a platform are repeated. */
export interface RetryOptions {
  /** Ends the waits. The promise then rejects with its reason. */
  readonly signal: AbortSignal;
  /** Called with each error that is followed by another attempt. */
  readonly onRetry: (error: unknown) => void;
}

/**
 * Repeats a request until it succeeds or the platform refuses it for good: after the wait that the platform requests, else after 1 s, doubled
 * to 30 s. Throws the error of a refusal.
 */
export async function withRetries<T>(request: (attempt: number) => Promise<T>, { signal, onRetry }: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await request(attempt);
    } catch (error) {
      signal.throwIfAborted();
      if (errorKindOf(error) === 'refused') throw error;
      onRetry(error);
      await delay(waitAfter(error, attempt), undefined, { signal });
    }
  }
}

function waitAfter(error: unknown, attempt: number): number {
  const { retryMsMin, retryMsMax, retryAfterMsMax, unauthorizedMs } = CHANNEL_LIMITS;
  if (error instanceof ChannelError && error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, retryAfterMsMax);
  if (errorKindOf(error) === 'unauthorized') return unauthorizedMs;
  return Math.min(retryMsMin * 2 ** Math.min(attempt - 1, 10), retryMsMax);
}
