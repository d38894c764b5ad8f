const KIB = 1_024;
const SECOND_MS = 1_000;

const DURATIONS: readonly (readonly [ms: number, unit: string])[] = [
  [24 * 60 * 60 * SECOND_MS, 'days'],
  [60 * 60 * SECOND_MS, 'hours'],
  [60 * SECOND_MS, 'minutes'],
  [SECOND_MS, 's'],
];

const SIZES: readonly (readonly [bytes: number, unit: string])[] = [
  [KIB ** 3, 'GiB'],
  [KIB ** 2, 'MiB'],
  [KIB, 'KiB'],
];

/** A value as docs show it. The unit follows from the name: `timeoutMs` is a duration, `bytesMax` a size. */
export function quantity(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => quantity(name, item)).join(', ');
  if (value instanceof RegExp) return `\`${value.source}\``;
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, item]) => `\`${key}\` ${quantity('', item)}`)
      .join(', ');
  }
  if (typeof value !== 'number') return String(value);
  if (/Ms(?:Min|Max|Default|MaxStopped)?$/u.test(name)) return inUnits(value, DURATIONS, 'ms');
  if (/[bB]ytes(?:Max|Min|Default|Ceiling)?$/u.test(name)) return inUnits(value, SIZES, 'bytes');
  return value.toLocaleString('en', { maximumFractionDigits: 6 });
}

/** The largest unit in which the value is whole; sizes may have a half. */
function inUnits(value: number, units: readonly (readonly [size: number, unit: string])[], smallest: string): string {
  const [size, unit] = units.find(([one]) => value >= one && Number.isInteger((value / one) * (units === SIZES ? 2 : 1))) ?? [1, smallest];
  const amount = value / size;
  return `${amount.toLocaleString('en')} ${amount === 1 ? unit.replace(/(?<=day|hour|minute)s$/u, '') : unit}`;
}
