import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALSO, IMPORT_TABLE, TYPES_ONLY } from '../../lint/import-table.mjs';
import { pageText, ROOT } from './support/pages.js';

const PAGE = 'docs/architecture.md';
const BEGIN = '<!-- import-table -->\n';
const END = '<!-- /import-table -->';

const FOLDERS = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The rows of the lint's table for folders that there are, from the top down. */
const ROWS = Object.entries(IMPORT_TABLE).filter(([folder]) => FOLDERS.includes(folder));

describe('docs/architecture.md', () => {
  // its table is written by: npx vitest run --project perdure test/docs/architecture.test.ts -u
  it('has the import table that the lint enforces', async () => {
    const text = pageText(PAGE);
    const [before, rest] = [text.indexOf(BEGIN), text.indexOf(END)];
    expect(before).toBeGreaterThan(0);
    const expected = `${text.slice(0, before + BEGIN.length)}\n${importTable()}\n\n${text.slice(rest)}`;
    await expect(expected).toMatchFileSnapshot(join(ROOT, PAGE));
  });

  it('has a row for each folder of the sources, from the top down as the lint has them', () => {
    const shown = [...pageText(PAGE).matchAll(/^\| `src\/(?<folder>\w+)` \|/gmu)].map(({ groups }) => groups?.['folder'] ?? '');
    expect(shown).toEqual(ROWS.map(([folder]) => folder));
    expect(FOLDERS.filter((folder) => !shown.includes(folder))).toEqual([]);
  });

  it('names the exceptions of the lint', () => {
    const exceptions = [
      ...Object.keys(TYPES_ONLY),
      ...Object.values(TYPES_ONLY).flat(),
      ...Object.keys(ALSO),
      ...Object.values(ALSO).flat(),
    ];
    expect(exceptions.filter((name) => !pageText(PAGE).includes(name))).toEqual([]);
  });
});

function importTable(): string {
  const rows = ROWS.map(([folder, { rooms, types = [], packages }]) => [
    `\`${folder}\``,
    [...there(rooms), ...there(types).map((name) => `${name} (types)`)].join(', ') || '–',
    packages.map((name) => (name === 'node:*' ? 'Node' : `\`${name}\``)).join(', '),
  ]);
  return [['folder', 'imports folders', 'imports packages'], ['---', '---', '---'], ...rows].map(markdownRow).join('\n');
}

function there(folders: readonly string[]): string[] {
  return folders.filter((folder) => FOLDERS.includes(folder));
}

function markdownRow(cells: readonly string[]): string {
  return cells[0] === '---' ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`;
}
