import { CONTENT_LIMITS } from '../../contracts/constants/limits.js';
import type { ModelError } from '../contract/model-error.js';

const FRAGMENT_CHARS = 6;
const EDGE_CHARS = 4;

/**
 * Replaces every word that holds a key, or a part of it, by `[redacted]`: servers repeat a refused key with its middle masked.
 * Keys under 8 characters are no secrets but placeholders for servers that need none. Never throws.
 */
export function hideKey(text: string, key: string): string {
  if (key.length < CONTENT_LIMITS.secretCharsMin) return text;
  const fragments = keyFragments(key);
  return text.replaceAll(/\S+/gu, (word) => (fragments.some((fragment) => word.includes(fragment)) ? '[redacted]' : word));
}

/** All runs of six characters, and shorter ones at both ends beside a mask. */
function keyFragments(key: string): string[] {
  const fragments = [`*${key.slice(-EDGE_CHARS)}`, `.${key.slice(-EDGE_CHARS)}`, `…${key.slice(-EDGE_CHARS)}`];
  for (let start = 0; start + FRAGMENT_CHARS <= key.length; start += 1) fragments.push(key.slice(start, start + FRAGMENT_CHARS));
  return fragments;
}

/** An error with these keys taken out of its message, whole or in parts; itself when none is in it. */
export function withoutKeys(error: ModelError, keys: Iterable<string>): ModelError {
  const message = [...keys].reduce(hideKey, error.message);
  return message === error.message ? error : error.inWords(message);
}
