import type { ModelError } from '../../providers/contract/model-error.js';
import { hideKey } from '../../providers/errors/redact-key.js';

/** An error with these keys taken out of its message, whole or in parts; itself when none is in it. */
export function withoutKeys(error: ModelError, keys: Iterable<string>): ModelError {
  const message = [...keys].reduce(hideKey, error.message);
  return message === error.message ? error : error.inWords(message);
}
