/**
 * The known name that is nearest to a mistyped one, or undefined when none is near. Case, `-` and `_` are ignored, so `maxturn` and
 * `max-turns` both find `maxTurns`. Never throws.
 */
function nearestName(given: string, known: readonly string[]): string | undefined {
  const target = plain(given.slice(0, GIVEN_CHARS_MAX));
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(target, plain(name));
    if (distance <= Math.max(1, Math.floor(plain(name).length / 3)) && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name;
}

/** ` (did you mean X?)`, or nothing when no name is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  const name = nearestName(given, known);
  return name === undefined ? '' : ` (did you mean ${name}?)`;
}

/** Longer texts are cut: no known name is that long, and the distance takes quadratic time. */
const GIVEN_CHARS_MAX = 80;

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/gu, '');
}

/** Number of insertions, deletions, replacements and swaps of neighbours between two short texts. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const steps = [at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1)];
      current.push(Math.min(...steps, swapped ? at(beforeLast, column - 2) + 1 : Infinity));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
