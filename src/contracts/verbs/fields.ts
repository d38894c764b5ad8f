import { PAYLOAD_LIMITS } from '../constants/limits.js';
import type { SentPart } from '../schemas/session.js';
import { didYouMean } from '../text/did-you-mean.js';
import { echoValue } from '../text/echo-value.js';
import { idOfText } from '../text/id-of-text.js';
import { isRunId } from '../text/ids.js';
import { cleanText } from '../text/sanitize-text.js';

/** What is wrong with an input, as `CODE` and a sentence. */
export interface Fault {
  readonly code: string;
  readonly message: string;
}

/** A fault of one field; of the whole input without one. */
export interface FieldFault extends Fault {
  readonly field?: string;
}

/** A value as it was read. With a fault, `value` is the nearest usable one, and absent when there is none. */
export interface Reading<T> {
  readonly value?: T;
  readonly fault?: Fault;
}

/** Reads one field of an input. Contract: pure, never throws, also for values that no client of ours sends. */
export type Field<T> = (given: unknown, name: string) => Reading<T>;

/** One field for each property of an input. */
export type Fields<Input extends object> = { readonly [Name in keyof Input]-?: Field<NonNullable<Input[Name]>> };

/** An input as it was read: the fields that are usable, and every fault, those of unknown fields first. */
export interface InputReading<Input> {
  readonly value: Partial<Input>;
  readonly faults: readonly FieldFault[];
}

/**
 * Reads an input from whatever client it comes. A fault of one field leaves the others usable: who must be strict refuses the first
 * fault, who must not lose the message takes the value. Pure; never throws.
 */
export function readFields<Input extends object>(fields: Fields<Input>, given: unknown): InputReading<Input> {
  if (typeof given !== 'object' || given === null) return { value: {}, faults: [badOption(`expected an object, got ${echoValue(given)}`)] };
  const names = Object.keys(fields);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const faults: FieldFault[] = unknown.slice(0, 1).map((name) => unknownOption(name, names));
  const value: Record<string, unknown> = {};
  for (const [name, read] of Object.entries<Field<unknown>>(fields)) {
    const entry: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined;
    if (entry === undefined) continue;
    const reading = read(entry, name);
    if (reading.fault) faults.push({ ...reading.fault, field: name });
    if (reading.value !== undefined) value[name] = reading.value;
  }
  // each field gives the type of its property
  return { value: value as Partial<Input>, faults };
}

/** The text of a message: cleaned, not empty, at most 1 MiB. A larger one would end the run as an update. */
export function messageText(given: unknown, name: string): Reading<string> {
  if (typeof given !== 'string') return { fault: badOption(`${name}: a string, got ${echoValue(given)}`) };
  const value = cleanText(given);
  if (value.trim() === '') return { fault: EMPTY_MESSAGE };
  const bytes = new TextEncoder().encode(value).length;
  const max = PAYLOAD_LIMITS.messageBytesMax;
  return bytes <= max ? { value } : { fault: { code: 'MESSAGE_TOO_LARGE', message: `message: limit ${max} bytes, got ${bytes}` } };
}

/** The parts of a message: texts and files, at most 1 MiB as JSON. Texts are cleaned. */
export function messageParts(countMax: number): Field<readonly SentPart[]> {
  return (given, name) => {
    if (!Array.isArray(given) || given.length > countMax)
      return { fault: badOption(`${name}: a list of at most ${countMax} parts, got ${echoValue(given)}`) };
    const parts = given.map(partOf);
    const wrong = parts.indexOf(undefined);
    if (wrong >= 0) {
      const what = 'a part is {"type": "text", "text"} or {"type": "file", "mime", "dataBase64" or "ref"}';
      return { fault: badOption(`${name}[${wrong}]: ${what}, got ${echoValue(given[wrong])}`) };
    }
    const value = parts.filter((part) => part !== undefined);
    if (!value.some((part) => part.type === 'file' || part.text.trim() !== '')) return { fault: EMPTY_MESSAGE };
    const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
    const max = PAYLOAD_LIMITS.messageBytesMax;
    return bytes <= max ? { value } : { fault: { code: 'MESSAGE_TOO_LARGE', message: `message: limit ${max} bytes, got ${bytes}` } };
  };
}

/** A text or a file as a client sent it. Undefined for anything else. */
function partOf(given: unknown): SentPart | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { type, text, mime, ref, dataBase64 } = given as Readonly<Record<string, unknown>>;
  if (type === 'text') return typeof text === 'string' ? { type, text: cleanText(text) } : undefined;
  if (type !== 'file' || typeof mime !== 'string' || mime.length > MIME_CHARS_MAX) return undefined;
  const source = typeof dataBase64 === 'string' ? { dataBase64 } : typeof ref === 'string' ? { ref } : undefined;
  return source && { type, mime: cleanText(mime), ...source };
}

/** Longer types of files do not exist. */
const MIME_CHARS_MAX = 200;

export const EMPTY_MESSAGE: Fault = { code: 'EMPTY_MESSAGE', message: 'message has no text and no attachment' };

/** The id of a message. The nearest usable id is the text; of a longer one its beginning and its hash, so that two of them stay two. */
export function messageId(given: unknown): Reading<string> {
  if (typeof given === 'string' && isRunId(given)) return { value: given };
  const fault = { code: 'BAD_MESSAGE_ID', message: `use 1–200 characters of A–Z a–z 0–9 . _ : -, got ${echoValue(given)}` };
  const value = typeof given === 'string' ? idOfText(given) : '';
  return value === '' ? { fault } : { value, fault };
}

/** One of a list of words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Field<Word> {
  const listed = `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
  return (given, name) => {
    const value = words.find((word) => word === given);
    return value === undefined ? { fault: badOption(`${name}: ${listed}, got ${echoValue(given)}`) } : { value };
  };
}

/** A time in whole milliseconds. The nearest usable one is `nearest(given)`. */
export function milliseconds(min: number, max: number, nearest: (given: number) => number | undefined): Field<number> {
  return (given, name) => {
    const isNumber = typeof given === 'number' && !Number.isNaN(given);
    if (isNumber && Number.isInteger(given) && given >= min && given <= max) return { value: given };
    const fault = badOption(`${name}: integer ${min}–${max}, in milliseconds, got ${echoValue(given)}`);
    const value = isNumber ? nearest(given) : undefined;
    return value === undefined ? { fault } : { value, fault };
  };
}

/** A number above 0. */
export function amount(kind: 'number' | 'integer'): Field<number> {
  return (given, name) => {
    const isAmount = typeof given === 'number' && Number.isFinite(given) && given > 0 && (kind === 'number' || Number.isInteger(given));
    return isAmount ? { value: given } : { fault: badOption(`${name}: ${kind} above 0, got ${echoValue(given)}`) };
  };
}

/** A name or remark that operators read: cleaned and cut to `charsMax`. An empty one counts as none. */
export function label(charsMax: number): Field<string> {
  return (given, name) => {
    if (typeof given !== 'string') return { fault: badOption(`${name}: a string, got ${echoValue(given)}`) };
    const value = cleanText(given).trim().slice(0, charsMax).toWellFormed();
    return value === '' ? {} : { value };
  };
}

/** A text of 1 to `charsMax` characters that a decision holds: cleaned, never cut. `shown` names it in the fault. */
export function answer(charsMax: number, shown?: string): Field<string> {
  return (given, name) => {
    const value = typeof given === 'string' ? cleanText(given).trim() : '';
    if (value !== '' && value.length <= charsMax) return { value };
    const message = `${shown ?? name}: a text of 1–${charsMax} characters, got ${echoValue(given)}`;
    return { fault: { code: 'BAD_ANSWER', message } };
  };
}

function badOption(message: string): Fault {
  return { code: 'BAD_OPTION', message };
}

function unknownOption(name: string, known: readonly string[]): Fault {
  return { code: 'UNKNOWN_OPTION', message: `${echoValue(name).replaceAll('"', '')}${didYouMean(name, known)}` };
}
