/** The named references that models write. Browsers know two thousand; the others stay as they are written. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  times: '×',
  rarr: '→',
  larr: '←',
};

/** Replaces character references, such as `&amp;` and `&#39;`, by their characters, once. Pure. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(?<decimal>\d{1,7})|#x(?<hex>[0-9a-f]{1,6})|(?<name>[a-z]{2,6}));/giu, (written: string, ...groups) => {
    const { decimal, hex, name } = groups.at(-1) as { decimal?: string; hex?: string; name?: string };
    if (name !== undefined) return NAMED[name] ?? written;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
  });
}
