import { PerdureError } from '../contracts/coded-error.js';
import { type ExtendInput, isRunId, type SteerInput } from '../contracts/run.js';
import { checkText } from './check-input.js';
import { echoValue } from './echo-value.js';
import { didYouMean } from './nearest-name.js';

const STEER_KEYS = ['id', 'text', 'mode'];
const EXTEND_KEYS = ['turns', 'costUsd', 'tokens', 'deadlineMs'] as const;

/** A message for a live run, checked and cleaned. Throws PerdureError (exit 2) as `checkText` does, or `BAD_MESSAGE_ID`, `BAD_OPTION`. */
export function checkSteer(message: string | SteerInput): SteerInput {
  const input = typeof message === 'string' ? { text: message } : message;
  checkKeys(input, STEER_KEYS);
  if (input.id !== undefined && !isRunId(input.id)) {
    throw new PerdureError('BAD_MESSAGE_ID', `use 1–200 of A–Z a–z 0–9 . _ : -, got ${echoValue(input.id)}`, 2);
  }
  // a mode that is not there yet must not be taken for another one in silence
  if (input.mode !== undefined && input.mode !== 'boundary') {
    throw new PerdureError('BAD_OPTION', `mode: "boundary" is the only one in this version, got ${echoValue(input.mode)}`, 2);
  }
  return { ...input, text: checkText(input.text) };
}

/** Raised caps, checked: at least one, each a number above 0. Throws `BAD_OPTION` or `UNKNOWN_OPTION` (exit 2). */
export function checkExtend(input: ExtendInput): ExtendInput {
  checkKeys(input, EXTEND_KEYS);
  const given = EXTEND_KEYS.filter((key) => input[key] !== undefined);
  if (given.length === 0) throw new PerdureError('BAD_OPTION', `extend: give at least one of ${EXTEND_KEYS.join(', ')}`, 2);
  for (const key of given) {
    const value = input[key];
    const whole = key === 'costUsd' || Number.isInteger(value);
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || !whole) {
      throw new PerdureError('BAD_OPTION', `${key}: ${key === 'costUsd' ? 'number' : 'integer'} above 0, got ${echoValue(value)}`, 2);
    }
  }
  return input;
}

function checkKeys(input: object, known: readonly string[]): void {
  const stranger = Object.keys(input).find((key) => !known.includes(key));
  if (stranger !== undefined) throw new PerdureError('UNKNOWN_OPTION', `${stranger.slice(0, 80)}${didYouMean(stranger, known)}`, 2);
}
