import { sequenceMatches } from '../../../contracts/text/wildcard.js';

/**
 * True when a glob means a path (relative, forward slashes): `*` and `?` within one part of the path, `**` over any number of parts. A
 * glob without a slash means the file name, at any depth. All else means itself, also brackets and braces: they stand in paths, and a
 * rule that was captured at the start of a run must go on meaning the same. Takes time linear in glob × path. Never throws.
 */
export function globMatches(glob: string, path: string): boolean {
  const given = glob.replace(/^\.?\//u, '');
  const parts = path.split('/');
  if (given === '**') return true;
  if (!given.includes('/')) return partMatches(given, parts.at(-1) ?? '');
  return sequenceMatches({ items: parts, pattern: given.split('/'), isStar: (part) => part === '**', fits: partMatches });
}

function partMatches(pattern: string, name: string): boolean {
  return sequenceMatches({
    items: Array.from(name),
    pattern: Array.from(pattern),
    isStar: (wanted) => wanted === '*',
    fits: (wanted, character) => wanted === '?' || wanted === character,
  });
}
