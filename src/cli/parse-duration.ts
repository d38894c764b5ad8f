import { echoValue } from '../client/echo-value.js';
import { PerdureError } from '../contracts/coded-error.js';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a duration such as `90s`, `10m`, `1h30m` into milliseconds. Throws `BAD_OPTION` (exit 2), also without a unit. */
export function parseDuration(text: string, option: string): number {
  const parts = [...text.matchAll(/(?<amount>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|[smhd])/gu)];
  if (parts.length > 0 && parts.map(([whole]) => whole).join('') === text) {
    return Math.round(parts.reduce((sum, { groups }) => sum + Number(groups?.amount) * unitMs(groups?.unit), 0));
  }
  throw new PerdureError('BAD_OPTION', `${option}: a duration such as 90s, 10m or 1h30m, got ${echoValue(text)}`, 2);
}

function unitMs(unit: string | undefined): number {
  return Object.entries(UNIT_MS).find(([name]) => name === unit)?.[1] ?? Number.NaN;
}
