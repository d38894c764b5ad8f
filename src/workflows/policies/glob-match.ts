/**
 * True when a glob means a path (relative, forward slashes): `*` and `?` within one part of the path, `**` over any number of parts. A
 * glob without a slash means the file name, at any depth. Takes time linear in glob × path, whatever the glob. Never throws.
 */
export function globMatches(glob: string, path: string): boolean {
  const given = glob.replace(/^\.?\//u, '');
  const parts = path.split('/');
  if (given === '**') return true;
  if (!given.includes('/')) return partMatches(parts.at(-1) ?? '', given);
  return sequenceMatches(parts, given.split('/'), { star: '**', fits: partMatches });
}

function partMatches(name: string, pattern: string): boolean {
  return sequenceMatches(Array.from(name), Array.from(pattern), { star: '*', fits: characterMatches });
}

function characterMatches(character: string, wanted: string): boolean {
  return wanted === '?' || wanted === character;
}

/** The two-pointer match: on a mismatch only the last star takes one item more, so nothing is tried twice. */
function sequenceMatches(
  items: readonly string[],
  pattern: readonly string[],
  { star, fits }: { readonly star: string; readonly fits: (item: string, wanted: string) => boolean },
): boolean {
  let at = 0;
  let lastStar = -1;
  let lastStarAt = 0;
  for (let item = 0; item < items.length; ) {
    const wanted = pattern[at];
    if (wanted === star) {
      lastStar = at;
      lastStarAt = item;
      at += 1;
    } else if (wanted !== undefined && fits(items[item] ?? '', wanted)) {
      at += 1;
      item += 1;
    } else if (lastStar === -1) {
      return false;
    } else {
      lastStarAt += 1;
      at = lastStar + 1;
      item = lastStarAt;
    }
  }
  return pattern.slice(at).every((wanted) => wanted === star);
}
