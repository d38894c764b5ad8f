import { redact } from './redact.js';

const ECHO_CHARS_MAX = 80;
const READ_CHARS_MAX = 2_000;

/**
 * A value as an error message may show it: on one line, without control characters, redacted, at most 80 characters. Objects and arrays
 * are named only. Never throws.
 */
export function echoValue(value: unknown): string {
  const text = redact(describe(value)).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
  return text.length <= ECHO_CHARS_MAX ? text : `${text.slice(0, ECHO_CHARS_MAX - 1)}…`.toWellFormed();
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, READ_CHARS_MAX));
  return JSON.stringify(value) ?? String(value);
}
