import { SCHEDULE_LIMITS } from '../../constants/limits.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../constants/units.js';
import { writeDuration } from '../duration.js';
import { echoValue } from '../echo-value.js';
import { readCron } from './cron.js';
import type { Calendar, ScheduleTimes } from './schedule.js';

/** When a schedule starts its task: exactly one of `cron`, `everyMs` and `at`. */
export interface ScheduleTimesOptions {
  /** A cron expression of five fields, such as `0 8 * * 1-5`, or `@daily`. */
  readonly cron?: string | undefined;
  /** Interval in milliseconds: at the multiples of it since 1970-01-01T00:00Z. */
  readonly everyMs?: number | undefined;
  /** A time of each day, such as `08:00`, or one time, such as `2030-01-31T08:00`. */
  readonly at?: string | undefined;
  /** Time zone of `cron` and `at`, such as `Europe/Berlin`. @default UTC */
  readonly timeZone?: string | undefined;
}

/** The times, or what is wrong with the options: the name of an option, and a sentence. */
export type TimesReading = { readonly times: ScheduleTimes } | { readonly problem: string };

/** Reads the times of a schedule. Never throws. */
export function readTimes({ cron, everyMs, at, timeZone = 'UTC' }: ScheduleTimesOptions): TimesReading {
  const given = [cron, everyMs, at].filter((option) => option !== undefined);
  if (given.length !== 1) return { problem: `use exactly one of cron, every and at; got ${given.length}` };
  if (!isTimeZone(timeZone)) return { problem: `time zone: a name such as Europe/Berlin, or UTC; got ${echoValue(timeZone)}` };
  if (everyMs !== undefined) return readInterval(everyMs, timeZone);
  if (at !== undefined) return readAt(at, timeZone);
  const reading = readCron(cron ?? '');
  if ('problem' in reading) return { problem: `cron: ${reading.problem}` };
  return { times: { text: `cron ${cron?.trim()}`, calendars: [...reading.calendars], timeZone } };
}

/** True if the schedule has this time. Its fractions of a second do not count. */
export function isTimeOf({ calendars, everyMs, timeZone }: ScheduleTimes, atMs: number): boolean {
  const second = Math.floor(atMs / 1_000) * 1_000;
  if (everyMs !== undefined && second % everyMs === 0) return true;
  if (calendars.length === 0) return false;
  const clock = wallClock(second, timeZone);
  return calendars.some((calendar) => matches(calendar, clock));
}

/** The shortest time between two starts of a schedule, in milliseconds. Changes of clocks do not count. */
export function shortestGapMs({ calendars, everyMs }: ScheduleTimes): number {
  return Math.min(
    everyMs ?? DAY_MS,
    ...calendars.map(({ minute, hour }) => Math.min(gapOf(minute, 60) * MINUTE_MS, gapOf(hour, 24) * HOUR_MS)),
  );
}

/** The shortest way from one of these values to the next one on a clock with so many values. */
function gapOf(values: readonly number[], size: number): number {
  // one value is the same time of the next round, which the larger hand of the clock decides
  if (values.length < 2) return Number.POSITIVE_INFINITY;
  return Math.min(...values.map((value, at) => (values[at + 1] ?? (values[0] ?? 0) + size) - value));
}

function readInterval(everyMs: number, timeZone: string): TimesReading {
  const { everyMsMin, everyMsMax } = SCHEDULE_LIMITS;
  const isInterval = Number.isInteger(everyMs) && everyMs >= everyMsMin && everyMs <= everyMsMax && everyMs % 1_000 === 0;
  if (isInterval) return { times: { text: `every ${writeDuration(everyMs)}`, calendars: [], everyMs, timeZone } };
  const bounds = `whole seconds, ${writeDuration(everyMsMin)} to ${writeDuration(everyMsMax)}`;
  return { problem: `every: ${bounds}; got ${Number.isFinite(everyMs) ? writeDuration(everyMs) : echoValue(everyMs)}` };
}

function readAt(text: string, timeZone: string): TimesReading {
  const form = /^(?:(?<date>\d{4}-\d\d-\d\d)T)?(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?$/u;
  const { date, hour, minute, second = '0' } = form.exec(text)?.groups ?? {};
  const day = date === undefined ? undefined : readDate(date);
  if (hour === undefined || (date !== undefined && day === undefined))
    return { problem: `at: a time such as 08:00 or 2030-01-31T08:00; got ${echoValue(text)}` };
  const time = { second: [Number(second)], minute: [Number(minute)], hour: [Number(hour)] };
  return { times: { text: day ? `at ${text}` : `at ${text} each day`, calendars: [{ ...time, ...(day ?? EVERY_DAY) }], timeZone } };
}

/** The fields of a date. Undefined for one that no calendar has. */
function readDate(date: string): Pick<Calendar, 'dayOfMonth' | 'month' | 'dayOfWeek' | 'year'> | undefined {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const found = new Date(Date.UTC(year, month - 1, day));
  if (found.getUTCMonth() !== month - 1 || found.getUTCDate() !== day) return undefined;
  return { ...EVERY_DAY, year: [year], month: [month], dayOfMonth: [day] };
}

const EVERY_DAY = { dayOfMonth: upTo(1, 31), month: upTo(1, 12), dayOfWeek: upTo(0, 6) };

function upTo(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** Names of the tz database. Offsets such as `+02:00` are none: the server does not take them. */
function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > SCHEDULE_LIMITS.timeZoneCharsMax || !/^[A-Za-z][\w+/-]*$/u.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // a RangeError for a name that does not exist
    return false;
  }
}

type WallClock = Readonly<Record<keyof Calendar, number>>;

/** The time of day and the date that a clock in a time zone shows. */
function wallClock(atMs: number, timeZone: string): WallClock {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(atMs);
  const of = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((part) => part.type === type)?.value);
  const [year, month, dayOfMonth] = [of('year'), of('month'), of('day')];
  const dayOfWeek = new Date(Date.UTC(year, month - 1, dayOfMonth)).getUTCDay();
  return { second: of('second'), minute: of('minute'), hour: of('hour'), dayOfMonth, month, dayOfWeek, year };
}

function matches(calendar: Calendar, clock: WallClock): boolean {
  const { year, ...fields } = calendar;
  const names = Object.keys(fields) as (keyof typeof fields)[];
  return names.every((name) => fields[name].includes(clock[name])) && (year === undefined || year.includes(clock.year));
}
