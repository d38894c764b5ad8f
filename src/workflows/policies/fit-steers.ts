import type { SteerRecord } from '../../contracts/run.js';

/** The newest records that fit, in their order: what outsiders read is bounded in number and bytes of JSON. */
export function fitSteers(
  records: readonly SteerRecord[],
  bounds: { readonly countMax: number; readonly bytesMax: number },
): SteerRecord[] {
  const newest = records.slice(-bounds.countMax);
  let bytes = 2;
  const first = newest.findLastIndex((record) => {
    bytes += bytesOf(record) + 1;
    return bytes > bounds.bytesMax;
  });
  return newest.slice(first + 1);
}

function bytesOf(record: SteerRecord): number {
  return new TextEncoder().encode(JSON.stringify(record)).length;
}
