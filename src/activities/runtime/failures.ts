import { ApplicationFailure } from '@temporalio/common';
import { MODEL_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { FAILURES, type FailureType } from '../../contracts/failures.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Usage } from '../../contracts/schemas/model.js';
import { cutText, redact } from '../../contracts/text/redact.js';
import { ModelError } from '../../providers/contract/model-error.js';

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
 * for longer than a minute is not waited for: the failure says so and is final. `used` is what the call's attempts had used; the
 * details say so, also those of what is a failure already.
 */
export function modelFailure(error: unknown, used: Usage = NO_USAGE): ApplicationFailure {
  if (error instanceof ApplicationFailure) return withUsage(error, used);
  if (!(error instanceof ModelError)) return failure('Model.BadResponse', messageOf(error), { nonRetryable: false });
  const { status = null, requestId = null, retryAfterMs, hint } = error;
  const hinted = hint === undefined ? {} : { hint };
  const details = [{ status, requestId, retryAfterMs: retryAfterMs ?? null, ...hinted, ...usageOf(used) }];
  if (retryAfterMs === undefined) return failure(error.type, error.message, { details });
  if (retryAfterMs > MODEL_LIMITS.retryAfterMsMax) {
    const seconds = Math.round(retryAfterMs / 1_000);
    return failure(error.type, `${error.message} (the server asks to wait ${seconds} s)`, { details, nonRetryable: true });
  }
  return failure(error.type, error.message, { details, nextRetryDelayMs: Math.max(retryAfterMs, MODEL_LIMITS.retryAfterMsMin) });
}

/** What its details say already stays beside it. */
function withUsage(error: ApplicationFailure, used: Usage): ApplicationFailure {
  const usage = usageOf(used);
  if (!('usage' in usage)) return error;
  const { message, type, nonRetryable, cause, nextRetryDelay } = error;
  const [first, ...rest] = error.details ?? [];
  const details = [{ ...(typeof first === 'object' ? first : {}), ...usage }, ...rest];
  return new ApplicationFailure(message, type, nonRetryable, details, cause, nextRetryDelay);
}

function usageOf(used: Usage): { readonly usage?: Usage } {
  return used.inputTokens + used.outputTokens === 0 ? {} : { usage: used };
}

/** The message of anything thrown, cut to what a failure may carry. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return cutText(text === '' ? 'tool failed without message' : text, PAYLOAD_LIMITS.failureMessageBytesMax);
}
