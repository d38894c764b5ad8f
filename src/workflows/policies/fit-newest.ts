/** The newest entries that fit, in their order: what outsiders read is bounded in number and bytes of JSON. */
export function fitNewest<Entry>(entries: readonly Entry[], bounds: { readonly countMax: number; readonly bytesMax: number }): Entry[] {
  const newest = entries.slice(-bounds.countMax);
  // two brackets, and a comma before each entry but one
  let bytes = 1;
  const first = newest.findLastIndex((entry) => {
    bytes += bytesOf(entry) + 1;
    return bytes > bounds.bytesMax;
  });
  return newest.slice(first + 1);
}

function bytesOf(entry: unknown): number {
  return new TextEncoder().encode(JSON.stringify(entry)).length;
}
