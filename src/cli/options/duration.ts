import { echoValue } from '../../client/validate/run-input.js';
import { PerdureError } from '../../contracts/perdure-error.js';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The limits of a duration, in milliseconds. */
export interface DurationBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Parses a duration such as `90s`, `10m` or `1h30m` into milliseconds. Throws `BAD_OPTION` (exit 2), also for a missing unit or a value out of bounds. */
export function parseDuration(text: string, option: string, bounds?: DurationBounds): number {
  const ms = readDuration(text, option);
  if (!bounds || (ms >= bounds.leastMs && ms <= bounds.mostMs)) return ms;
  const { leastMs, mostMs } = bounds;
  throw new PerdureError('BAD_OPTION', `${option}: ${writeDuration(leastMs)} to ${writeDuration(mostMs)}, got ${echoValue(text)}`, 2);
}

/** Formats a duration in the largest unit without a fraction, such as `1d`. */
export function writeDuration(ms: number): string {
  const [unit, unitLength] = Object.entries(UNIT_MS).findLast(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${ms / unitLength}${unit}`;
}

function readDuration(text: string, option: string): number {
  const parts = [...text.matchAll(/(?<amount>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|[smhd])/gu)];
  if (parts.length > 0 && parts.map(([whole]) => whole).join('') === text) {
    return Math.round(parts.reduce((sum, { groups }) => sum + Number(groups?.amount) * unitMs(groups?.unit), 0));
  }
  throw new PerdureError('BAD_OPTION', `${option}: a duration such as 90s, 10m or 1h30m, got ${echoValue(text)}`, 2);
}

function unitMs(unit: string | undefined): number {
  return Object.entries(UNIT_MS).find(([name]) => name === unit)?.[1] ?? Number.NaN;
}
