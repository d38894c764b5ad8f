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
  // a colon is no character of a file name on Windows
  return `${name.replaceAll(':', '%3A')}.json`;
}
