import { SCHEDULE_LIMITS } from '../../constants/limits.js';
import { echoValue } from '../echo-value.js';
import type { Calendar } from './schedule.js';

/** The calendars of an expression, or what is wrong with it. */
export type CronReading = { readonly calendars: readonly Calendar[] } | { readonly problem: string };

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the values, the first one that of `min`. */
  readonly names?: readonly string[];
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  // 7 is Sunday too
  { name: 'day of week', min: 0, max: 7, names: DAYS },
] as const satisfies readonly Field[];

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
]);

const FORM = "five fields: minute, hour, day of month, month, day of week, such as '0 8 * * 1-5'";

/**
 * Reads a cron expression of five fields, or a shorthand such as `@daily`, with the rules of crontab(5): if both days are given, a day that
 * matches one of them counts. Never throws.
 */
export function readCron(text: string): CronReading {
  const expression = SHORTHANDS.get(text.trim()) ?? text.trim();
  const parts = expression.split(/\s+/u);
  if (text.length > SCHEDULE_LIMITS.cronCharsMax || parts.length !== FIELDS.length) return { problem: `${FORM}; got ${echoValue(text)}` };
  const values: number[][] = [];
  for (const [at, field] of FIELDS.entries()) {
    const found = readField(parts[at] ?? '', field);
    if (found === undefined) return { problem: `${field.name}: ${formOf(field)}; got ${echoValue(parts[at])}` };
    values.push(found);
  }
  const [minute = [], hour = [], dayOfMonth = [], month = [], week = []] = values;
  const dayOfWeek = ascending(week.map((day) => day % DAYS.length));
  const times = { second: [0], minute, hour, month };
  const isEither = !parts[2]?.startsWith('*') && !parts[4]?.startsWith('*');
  if (!isEither) return { calendars: [{ ...times, dayOfMonth, dayOfWeek }] };
  const everyDay = readField('*', FIELDS[2]) ?? [];
  return {
    calendars: [
      { ...times, dayOfMonth, dayOfWeek: DAYS.map((_, day) => day) },
      { ...times, dayOfMonth: everyDay, dayOfWeek },
    ],
  };
}

function readField(text: string, field: Field): number[] | undefined {
  const found = text.split(',').map((part) => readPart(part, field));
  if (found.includes(undefined)) return undefined;
  return ascending(found.flatMap((values) => values ?? []));
}

/** `*`, `5`, `1-5`, each with an optional step such as `/2`. */
function readPart(text: string, field: Field): number[] | undefined {
  const { from, to, step } = /^(?<from>\*|\w+)(?:-(?<to>\w+))?(?:\/(?<step>\d{1,3}))?$/u.exec(text)?.groups ?? {};
  if (from === undefined || (from === '*' && to !== undefined)) return undefined;
  const first = from === '*' ? field.min : valueOf(from, field);
  // crontab(5): a step after a single value counts up to the end
  const last = to === undefined ? (from === '*' || step !== undefined ? field.max : first) : valueOf(to, field);
  const width = Number(step ?? 1);
  if (first === undefined || last === undefined || first > last || width < 1) return undefined;
  return Array.from({ length: Math.floor((last - first) / width) + 1 }, (_, at) => first + at * width);
}

function valueOf(text: string, { min, max, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + min : /^\d{1,2}$/u.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}

function formOf({ min, max, names }: Field): string {
  const named = names === undefined ? '' : ` or ${names[0]}–${names.at(-1)}`;
  return `${min}–${max}${named}, with *, lists, ranges and steps`;
}
