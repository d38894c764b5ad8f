import type { QuestionField } from '../schemas/question.js';
import { didYouMean } from '../text/did-you-mean.js';
import { echoValue } from '../text/echo-value.js';

/** The value of a field. A choice is the choice as it was shown. */
export type FormValue = string | number | boolean | readonly string[];

/** The values of a form by name, or why an answer is none. */
export type FormReading = { readonly values: ReadonlyMap<string, FormValue> } | { readonly problem: string };

/** The line of a question that says how to answer several fields. Behind it is a line `NAME: …` for each of them. */
export const FORM_INSTRUCTION = 'Answer with a line NAME=VALUE for each field, or with a JSON object.';

/**
 * Reads an answer to a form. For one field, the answer is its value. For several, it has a line `NAME=VALUE` for each, or is a JSON object.
 * Optional fields may be left out. Pure; never throws; takes linear time.
 */
export function readForm(fields: readonly QuestionField[], answer: string): FormReading {
  const [only, ...others] = fields;
  const entries = only && others.length === 0 ? [[only.name, answer] as const] : readEntries(answer);
  if ('problem' in entries) return entries;
  const values = new Map<string, FormValue>();
  for (const [name, given] of entries) {
    const field = fields.find((each) => each.name === name);
    const names = fields.map((each) => each.name);
    if (!field) return { problem: `no field ${echoValue(name)}${didYouMean(name, names)}; the fields are: ${names.join(', ')}` };
    if (values.has(name)) return { problem: `${name}: given twice` };
    const read = readField(field, given);
    if ('problem' in read) return { problem: `${name}: ${read.problem}` };
    values.set(name, read.value);
  }
  const missing = fields.find(({ name, required }) => required && !values.has(name));
  return missing ? { problem: `${missing.name}: ${expected(missing)} is needed` } : { values };
}

/** What a field takes, such as `integer from 1 to 5`. */
export function expected({ kind, format, min, max, choices = [] }: QuestionField): string {
  const from = min === undefined ? '' : ` from ${min}`;
  const to = max === undefined ? '' : ` ${min === undefined ? 'up ' : ''}to ${max}`;
  switch (kind) {
    case 'text':
      return `${format ?? 'text'}${from || to ? ` of${from}${to} characters` : ''}`;
    case 'number':
    case 'integer':
      return `${kind}${from}${to}`;
    case 'boolean':
      return 'yes or no';
    case 'choice':
      return `one of ${numbered(choices)}`;
    case 'choices':
      return `some of ${numbered(choices)}, with commas${from || to ? ` (${`${from}${to}`.trim()})` : ''}`;
  }
}

/** The choices with their numbers, in one line. */
export function numbered(choices: readonly string[]): string {
  return choices.map((choice, index) => `${index + 1}. ${choice}`).join(', ');
}

/** A text that is a choice counts as that choice, also if it is a number. */
export function choiceOf(choices: readonly string[], given: string): string | undefined {
  const text = given.trim();
  return choices.find((choice) => choice === text) ?? (/^\d{1,3}$/u.test(text) ? choices[Number(text) - 1] : undefined);
}

type Entries = readonly (readonly [name: string, given: unknown])[];

function readEntries(answer: string): Entries | { readonly problem: string } {
  const text = answer.trim();
  if (text.startsWith('{')) {
    try {
      // a text that begins so is an object
      return Object.entries(JSON.parse(text) as object);
    } catch {
      return { problem: 'this is no JSON object' };
    }
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => !line.includes('='));
  if (wrong !== undefined) return { problem: `a line is NAME=VALUE, got ${echoValue(wrong)}` };
  return lines.map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]);
}

function readField(field: QuestionField, given: unknown): { readonly value: FormValue } | { readonly problem: string } {
  const value = valueOf(field, given);
  return value === undefined ? { problem: `${expected(field)}, got ${echoValue(given)}` } : { value };
}

function valueOf(field: QuestionField, given: unknown): FormValue | undefined {
  const { kind, choices = [] } = field;
  switch (kind) {
    case 'text':
      return typeof given === 'string' && isText(field, given) ? given : undefined;
    case 'number':
    case 'integer':
      return numberOf(field, given);
    case 'boolean':
      return typeof given === 'boolean' ? given : BOOLEANS.get(String(given).trim().toLowerCase());
    case 'choice':
      return typeof given === 'string' || typeof given === 'number' ? choiceOf(choices, String(given)) : undefined;
    case 'choices':
      return choicesOf(field, given);
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['true', true],
  ['no', false],
  ['false', false],
]);

function isText({ format, min = 0, max = Number.POSITIVE_INFINITY }: QuestionField, given: string): boolean {
  const { length } = Array.from(given);
  return length >= min && length <= max && (format === undefined || FORMATS[format](given));
}

/** Formats of texts. Each check takes linear time. */
const FORMATS: Readonly<Record<NonNullable<QuestionField['format']>, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/u.test(text),
  uri: (text) => /^[A-Za-z][A-Za-z\d+.-]*:\S+$/u.test(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/u.test(text) && isDay(text),
  'date-time': (text) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/iu.test(text) && isDay(text.slice(0, 10)),
};

/** True for a day that exists: February has no 30th. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function numberOf(field: QuestionField, given: unknown): number | undefined {
  const { kind, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
  const isNumber = typeof given === 'number' || (typeof given === 'string' && /^[+-]?\d{1,30}(?:\.\d{1,30})?$/u.test(given.trim()));
  const value = isNumber ? Number(given) : Number.NaN;
  if (!Number.isFinite(value) || value < min || value > max) return undefined;
  return kind === 'number' || Number.isSafeInteger(value) ? value : undefined;
}

function choicesOf({ choices = [], min = 0, max = choices.length }: QuestionField, given: unknown): readonly string[] | undefined {
  const parts: unknown = typeof given === 'string' ? given.split(',').filter((part) => part.trim() !== '') : given;
  if (!Array.isArray(parts) || parts.length > choices.length) return undefined;
  const chosen = parts.map((part) => (typeof part === 'string' ? choiceOf(choices, part) : undefined));
  const whole = chosen.filter((choice) => choice !== undefined);
  const isFit = whole.length === parts.length && new Set(whole).size === whole.length && whole.length >= min && whole.length <= max;
  return isFit ? whole : undefined;
}
