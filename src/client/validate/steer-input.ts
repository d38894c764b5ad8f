import { CLIENT_LIMITS, DECISION_LIMITS, STEER_LIMITS } from '../../contracts/constants/limits.js';
import { isRunId } from '../../contracts/ids.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { ApproveInput, DenyInput } from '../../contracts/schemas/approval.js';
import { type ExtendInput, type HoldInput, type SteerInput, SteerMode } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { checkText, echoValue } from './run-input.js';

const STEER_KEYS = ['id', 'text', 'mode', 'ttlMs'];
const HOLD_KEYS = ['ttlMs', 'by'];
const EXTEND_KEYS = ['turns', 'costUsd', 'tokens', 'deadlineMs'] as const;

/** Validates and sanitizes a message for a running agent. Throws PerdureError (exit 2) as `checkText` does, or `BAD_MESSAGE_ID`, `BAD_OPTION`. */
export function checkSteer(message: unknown): SteerInput {
  const { id, text, mode, ttlMs } = typeof message === 'string' ? { text: message } : checkFields(message, STEER_KEYS);
  const checked: SteerInput = {
    text: checkText(text),
    ...(mode === undefined ? {} : { mode: checkMode(mode) }),
    ...(ttlMs === undefined ? {} : { ttlMs: checkTtl(ttlMs, STEER_LIMITS.ttlMsMin, STEER_LIMITS.ttlMsMax) }),
  };
  if (id === undefined) return checked;
  if (typeof id === 'string' && isRunId(id)) return { ...checked, id };
  throw new PerdureError('BAD_MESSAGE_ID', `use 1–200 characters of A–Z a–z 0–9 . _ : -, got ${echoValue(id)}`, 2);
}

/** Validates and sanitizes the options of a hold. Throws `BAD_OPTION` or `UNKNOWN_OPTION` (exit 2). */
export function checkHold(input: unknown): HoldInput {
  const { ttlMs, by } = checkFields(input, HOLD_KEYS);
  if (by !== undefined && typeof by !== 'string') throw new PerdureError('BAD_OPTION', `by: a string, got ${echoValue(by)}`, 2);
  return {
    ...(ttlMs === undefined ? {} : { ttlMs: checkTtl(ttlMs, DECISION_LIMITS.holdTtlMsMin, DECISION_LIMITS.holdTtlMsMax) }),
    ...(by === undefined ? {} : { by: cleanText(by).slice(0, DECISION_LIMITS.byCharsMax) }),
  };
}

/** Validates the limits to increase: at least one, each a number above 0. Throws `BAD_OPTION` or `UNKNOWN_OPTION` (exit 2). */
export function checkExtend(input: unknown): ExtendInput {
  const fields = checkFields(input, EXTEND_KEYS);
  const given = EXTEND_KEYS.filter((key) => fields[key] !== undefined);
  if (given.length === 0) throw new PerdureError('BAD_OPTION', `extend: give at least one of ${EXTEND_KEYS.join(', ')}`, 2);
  return Object.fromEntries(given.map((key) => [key, checkAmount(key, fields[key])]));
}

function checkMode(mode: unknown): SteerMode {
  const { data } = SteerMode.safeParse(mode);
  if (data !== undefined) return data;
  throw new PerdureError('BAD_OPTION', `mode: boundary, preempt or interrupt, got ${echoValue(mode)}`, 2);
}

function checkTtl(ttlMs: unknown, least: number, most: number): number {
  if (typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs >= least && ttlMs <= most) return ttlMs;
  throw new PerdureError('BAD_OPTION', `ttlMs: integer ${least}–${most}, in milliseconds, got ${echoValue(ttlMs)}`, 2);
}

function checkAmount(key: (typeof EXTEND_KEYS)[number], value: unknown): number {
  const kind = key === 'costUsd' ? 'number' : 'integer';
  if (typeof value === 'number' && Number.isFinite(value) && value > 0 && (kind === 'number' || Number.isInteger(value))) return value;
  throw new PerdureError('BAD_OPTION', `${key}: ${kind} above 0, got ${echoValue(value)}`, 2);
}

function checkFields(input: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null) throw new PerdureError('BAD_OPTION', `expected an object, got ${echoValue(input)}`, 2);
  const fields = Object.fromEntries(Object.entries(input));
  const stranger = Object.keys(fields).find((key) => !known.includes(key));
  if (stranger === undefined) return fields;
  throw new PerdureError('UNKNOWN_OPTION', `${echoValue(stranger).replaceAll('"', '')}${didYouMean(stranger, known)}`, 2);
}

/** Validates and sanitizes a decision on a pending call. Throws `BAD_ANSWER` (exit 2) before anything is sent. */
export function checkDecision(decision: DenyInput): DenyInput {
  const { callId, by, reason } = decision;
  return {
    callId: checkLine('call', callId, CLIENT_LIMITS.idCharsMax),
    ...(by === undefined ? {} : { by: checkLine('by', by, DECISION_LIMITS.byCharsMax) }),
    ...(reason === undefined ? {} : { reason: checkLine('reason', reason, DECISION_LIMITS.reasonCharsMax) }),
  } satisfies ApproveInput;
}

function checkLine(name: string, value: unknown, charsMax: number): string {
  const text = typeof value === 'string' ? cleanText(value).trim() : '';
  if (text !== '' && text.length <= charsMax) return text;
  throw new PerdureError('BAD_ANSWER', `${name}: a text of 1–${charsMax} characters, got ${echoValue(value)}`, 2);
}
