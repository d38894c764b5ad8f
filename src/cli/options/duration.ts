import { PerdureError } from '../../contracts/perdure-error.js';
import { readDuration, writeDuration } from '../../contracts/text/duration.js';
import { echoValue } from '../../contracts/text/echo-value.js';

/** The limits of a duration, in milliseconds. */
export interface DurationBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Parses a duration such as `90s`, `10m` or `1h30m` into milliseconds. Throws `BAD_OPTION` (exit 2), also for a missing unit or a value out of bounds. */
export function parseDuration(text: string, option: string, bounds?: DurationBounds): number {
  const ms = readDuration(text);
  if (ms === undefined) {
    throw new PerdureError('BAD_OPTION', `${option}: a duration such as 90s, 10m or 1h30m, got ${echoValue(text)}`, 2);
  }
  if (!bounds || (ms >= bounds.leastMs && ms <= bounds.mostMs)) return ms;
  const { leastMs, mostMs } = bounds;
  throw new PerdureError('BAD_OPTION', `${option}: ${writeDuration(leastMs)} to ${writeDuration(mostMs)}, got ${echoValue(text)}`, 2);
}
