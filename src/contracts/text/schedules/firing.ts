import { SCHEDULE_LIMITS } from '../../constants/limits.js';
import { isRunId } from '../ids.js';

/** One time of a schedule. */
export interface Firing {
  readonly name: string;
  /** Whole seconds, in milliseconds since 1970. */
  readonly atMs: number;
}

/** True for a valid name of a schedule: an id of a run, at most `SCHEDULE_LIMITS.nameCharsMax` characters. */
export function isScheduleName(name: string): boolean {
  return name.length <= SCHEDULE_LIMITS.nameCharsMax && isRunId(name);
}

/** The id of what a schedule starts at a time, such as `daily-2030-01-31T08:00:00Z`. Temporal's server makes the same. */
export function firingId({ name, atMs }: Firing): string {
  return `${name}-${new Date(Math.floor(atMs / 1_000) * 1_000).toISOString().replace('.000Z', 'Z')}`;
}

/** Reads the id of what a schedule started. Undefined for any other id. */
export function readFiring(id: string): Firing | undefined {
  const { name = '', time = '' } = /^(?<name>.+)-(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/u.exec(id)?.groups ?? {};
  const atMs = Date.parse(time);
  return isScheduleName(name) && !Number.isNaN(atMs) ? { name, atMs } : undefined;
}

/** The name of the file, in folder `schedules` of the state folder, with what a schedule may start. */
export function grantFileName(name: string): string {
  if (/^[a-z0-9._-]+$/u.test(name)) return `${name}.json`;
  // Windows has no colon in file names, and there and on macOS two names that differ only by case are one file
  return `${name.toLowerCase().replaceAll(':', '_')}%${positions(name, /[A-Z]/u)}-${positions(name, /:/u)}.json`;
}

/** Where a name has such characters, as a hexadecimal number. No plain name has the percent sign before it. */
function positions(name: string, character: RegExp): string {
  return BigInt(`0b${Array.from(name, (each) => (character.test(each) ? '1' : '0')).join('')}`).toString(16);
}
