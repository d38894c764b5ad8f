const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration in the largest unit that needs no fraction, such as `1d`: as a person would type it. */
export function writeDuration(ms: number): string {
  const [unit, unitLength] = Object.entries(UNIT_MS).findLast(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${ms / unitLength}${unit}`;
}

/** Reads a duration such as `90s`, `10m` or `1h30m` into milliseconds; undefined for any other text. Never throws. */
export function readDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(?<amount>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|[smhd])/gu)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined;
  return Math.round(parts.reduce((sum, { groups }) => sum + Number(groups?.amount) * unitMs(groups?.unit), 0));
}

function unitMs(unit: string | undefined): number {
  return Object.entries(UNIT_MS).find(([name]) => name === unit)?.[1] ?? Number.NaN;
}
