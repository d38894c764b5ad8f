import { ApplicationFailure } from '@temporalio/common';
import { cutText, FAILURES, type FailureType, redact } from '../contracts/failures.js';
import { MODEL_LIMITS, PAYLOAD_LIMITS } from '../contracts/limits.js';
import type { Usage } from '../contracts/model.js';
import { NO_USAGE } from '../contracts/no-usage.js';
import { ModelError } from './providers/model-error.js';

/** What a failure carries beside its message. */
export interface FailureOptions {
  readonly cause?: unknown;
  readonly details?: readonly unknown[];
  readonly nextRetryDelayMs?: number;
  /** Overrides the table: a retryable type that must not be tried again this time. */
  readonly nonRetryable?: boolean;
}

/** Makes the ApplicationFailure of a type in the table: retryability from the table, message cut and redacted. */
export function failure(type: FailureType, message: string, options: FailureOptions = {}): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: redact(cutText(message, PAYLOAD_LIMITS.failureMessageBytesMax)),
    nonRetryable: options.nonRetryable ?? !FAILURES[type].retryable,
    ...(options.details ? { details: [...options.details] } : {}),
    ...(options.nextRetryDelayMs === undefined ? {} : { nextRetryDelay: options.nextRetryDelayMs }),
  });
}

/**
 * Turns what a provider threw into the failure of the table. A server's Retry-After becomes the next delay, clamped; one that asks
 * for longer than a minute is not waited for: the failure says so and is final. `used` is what the call's attempts had used.
 */
export function modelFailure(error: unknown, used: Usage = NO_USAGE): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ModelError)) return failure('Model.BadResponse', messageOf(error), { nonRetryable: false });
  const { status = null, requestId = null, retryAfterMs, hint } = error;
  const usage = used.inputTokens + used.outputTokens === 0 ? {} : { usage: used };
  const details = [{ status, requestId, retryAfterMs: retryAfterMs ?? null, ...(hint === undefined ? {} : { hint }), ...usage }];
  if (retryAfterMs === undefined) return failure(error.type, error.message, { details });
  if (retryAfterMs > MODEL_LIMITS.retryAfterMsMax) {
    const seconds = Math.round(retryAfterMs / 1_000);
    return failure(error.type, `${error.message} (the server asks to wait ${seconds} s)`, { details, nonRetryable: true });
  }
  return failure(error.type, error.message, { details, nextRetryDelayMs: Math.max(retryAfterMs, MODEL_LIMITS.retryAfterMsMin) });
}

/** The message of anything thrown, cut to what a failure may carry. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return cutText(text === '' ? 'tool failed without message' : text, PAYLOAD_LIMITS.failureMessageBytesMax);
}
