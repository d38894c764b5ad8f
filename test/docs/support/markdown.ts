/** A Markdown table. Cells may contain `|`. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [markdownRow(head), `|${'---|'.repeat(head.length)}`, ...rows.map((row) => markdownRow(row.map(escapePipes)))].join('\n');
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function escapePipes(cell: string): string {
  return cell.replaceAll('|', String.raw`\|`);
}

/** Text as code; undefined stays undefined. */
export function codeOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `\`${text}\``;
}

/** Names of the generated parts of a page, in order. */
export function partNames(page: string): string[] {
  return [...page.matchAll(/^<!-- generated:(?<name>[\w.-]+) -->$/gmu)].map(({ groups }) => groups?.['name'] ?? '');
}

/** The page with each generated part between the two marks of its name. Throws for a mark without a part, and for one without an end. */
export function filledPage(page: string, parts: Readonly<Record<string, () => string>>): string {
  return partNames(page).reduce((text, name) => {
    const part = parts[name];
    if (!part) throw new Error(`there is no generated part "${name}"`);
    const [begin, end] = [`<!-- generated:${name} -->\n`, `<!-- /generated:${name} -->`];
    const [before, rest] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
    if (rest < before) throw new Error(`the part "${name}" has no end mark`);
    return `${text.slice(0, before)}\n${part()}\n\n${text.slice(rest)}`;
  }, page);
}
