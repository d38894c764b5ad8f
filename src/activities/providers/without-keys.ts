import { hideKey } from './hide-key.js';
import { ModelError } from './model-error.js';

/** An error with these keys taken out of its message, whole or in parts; itself when none is in it. */
export function withoutKeys(error: ModelError, keys: Iterable<string>): ModelError {
  const message = [...keys].reduce(hideKey, error.message);
  if (message === error.message) return error;
  const { type, status, requestId, retryAfterMs, hint } = error;
  const details = Object.entries({ status, requestId, retryAfterMs, hint }).filter(([, value]) => value !== undefined);
  return new ModelError(type, message, Object.fromEntries(details));
}
