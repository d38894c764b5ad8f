/** A sequence and a pattern. A pattern item with `isStar` matches any number of items, also none. */
export interface SequenceMatch<Item, Pattern> {
  readonly items: readonly Item[];
  readonly pattern: readonly Pattern[];
  readonly isStar: (pattern: Pattern) => boolean;
  readonly fits: (pattern: Pattern, item: Item) => boolean;
}

/**
 * True when a pattern matches a whole sequence, in time items × pattern: after a mismatch only the last star is extended by one item.
 * Neither may contain `undefined`. Never throws.
 */
export function sequenceMatches<Item, Pattern>({ items, pattern, isStar, fits }: SequenceMatch<Item, Pattern>): boolean {
  let at = 0;
  let star = -1;
  let starAt = 0;
  for (let item = 0; item < items.length; ) {
    const wanted = pattern[at];
    const here = items[item];
    if (wanted !== undefined && isStar(wanted)) {
      star = at;
      starAt = item;
      at += 1;
    } else if (wanted !== undefined && here !== undefined && fits(wanted, here)) {
      at += 1;
      item += 1;
    } else if (star !== -1) {
      at = star + 1;
      starAt += 1;
      item = starAt;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(isStar);
}

/** True when a pattern matches a tool's name. `*` matches any characters. Never throws. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.endsWith(last) && name.length - last.length >= at;
}
