import { redact } from '../contracts/failures.js';

const ECHO_CHARS_MAX = 80;

/** A value as an error message may show it: on one line, without control characters, redacted, at most 80 characters. Never throws. */
export function echoValue(value: unknown): string {
  const text = redact(textOf(value)).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
  return text.length <= ECHO_CHARS_MAX ? text : `${text.slice(0, ECHO_CHARS_MAX - 1)}…`.toWellFormed();
}

function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return JSON.stringify(value) ?? String(value);
}
