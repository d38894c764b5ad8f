import { sequenceMatches } from '../../../contracts/text/wildcard.js';

/**
 * True when a glob matches a path (relative, forward slashes): `*` and `?` within one part of the path, `**` over any number of parts. A
 * glob without a slash matches the file name, at any depth. Any other character is literal, also brackets and braces, which occur in
 * paths. Runs capture their rules, so the meaning of a glob must not change. Takes time linear in glob × path. Never throws.
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
