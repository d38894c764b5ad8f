import { ApplicationFailure } from '@temporalio/common';
import { MODEL_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { FAILURES, type FailureType } from '../../contracts/failures.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Usage } from '../../contracts/schemas/model.js';
import { cutMiddle, redact } from '../../contracts/text/redact.js';
import { NO_SECRETS, type SecretMask } from '../../contracts/text/secret-mask.js';
import { ModelError } from '../../providers/contract/model-error.js';

/** The optional parts of a failure. */
export interface FailureOptions {
  readonly cause?: unknown;
  readonly details?: readonly unknown[];
  readonly nextRetryDelayMs?: number;
  /** Overrides the table, for a retryable type that must not be retried this time. */
  readonly nonRetryable?: boolean;
}

/** Makes the ApplicationFailure of a type in the table: retryability from the table, message cut and redacted. */
export function failure(type: FailureType, message: string, options: FailureOptions = {}): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: redact(cutMiddle(message, PAYLOAD_LIMITS.failureMessageBytesMax)),
    nonRetryable: options.nonRetryable ?? !FAILURES[type].retryable,
    ...(options.details ? { details: [...options.details] } : {}),
    ...(options.nextRetryDelayMs === undefined ? {} : { nextRetryDelay: options.nextRetryDelayMs }),
  });
}

/**
 * Converts an error that a provider threw to a failure of the table. A server's Retry-After becomes the delay of the next attempt, with a
 * minimum. Above one minute the failure is not retryable, and its message contains the time. `used`: the usage of all attempts of the
 * call, which is added to the details.
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

/** Adds the usage to the details of a failure. */
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

/** Ends the attempts of an activity whose retry policy would allow more. */
export function finalFailure(error: unknown): ApplicationFailure {
  return ApplicationFailure.fromError(error, { nonRetryable: true });
}

/** True for a failure of this host alone: it has not the workspace, and another one may have it. */
export function isOtherHost(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'Input.Workspace';
}

/** The message of any thrown value, without secrets, cut to the maximum size of a failure message. */
export function messageOf(error: unknown, secrets: SecretMask = NO_SECRETS): string {
  const text = secrets.text(error instanceof Error ? error.message : String(error));
  return cutMiddle(text === '' ? 'tool failed without message' : text, PAYLOAD_LIMITS.failureMessageBytesMax);
}
