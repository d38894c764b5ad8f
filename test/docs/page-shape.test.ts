import { describe, expect, it } from 'vitest';
import { type Page, prose, writtenPages } from './support/pages.js';

const PAGES = writtenPages();
const GUIDES = PAGES.filter(({ path }) => path.startsWith('docs/guides/'));

const LINES_MAX = 250;
const FRONT_PAGE_LINES_MAX = 149;
const PARAGRAPH_LINES_MAX = 5;
const LINE_CHARS_MAX = 120;

/** Phrases that readers had to read twice; the standard term is to stand in their place. */
const UNCLEAR = [
  'goes on',
  'go on',
  'going on',
  'sees to it',
  'lets go',
  'let go',
  'comes back at once',
  'nobody',
  'whom',
  'is told',
  'says so',
  'waits for a person',
  'left alone',
  'in its own way',
  'whoever',
  'all the same',
];

describe('the shape of pages', () => {
  it.each(PAGES)(`$path has at most ${LINES_MAX} lines`, ({ path, text }) => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(path === 'README.md' ? FRONT_PAGE_LINES_MAX : LINES_MAX);
  });

  it.each(PAGES)(`$path: a paragraph has at most ${PARAGRAPH_LINES_MAX} lines, each of at most ${LINE_CHARS_MAX} characters`, (page) => {
    expect(paragraphs(page).filter((lines) => lines.length > PARAGRAPH_LINES_MAX)).toEqual([]);
    expect(
      paragraphs(page)
        .flat()
        .filter((line) => line.length > LINE_CHARS_MAX),
    ).toEqual([]);
  });

  it.each(GUIDES)('$path begins with an example, before its first heading', ({ text }) => {
    const [opening = ''] = text.split(/^## /mu);
    expect(opening).toMatch(/^```(?:js|python|sh|ts|yaml)/mu);
  });

  it.each(GUIDES)('$path leads to the reference, or to the next guide', ({ text }) => {
    expect(text).toMatch(/\]\((?:\.\.\/reference\/)?[\w-]+\.md/u);
  });

  it.each(PAGES)('$path uses the standard terms', (page) => {
    const text = prose(page)
      .replaceAll(/`[^`\n]*`/gu, '')
      .toLowerCase();
    expect(UNCLEAR.filter((phrase) => new RegExp(`\\b${phrase}\\b`, 'u').test(text))).toEqual([]);
  });
});

/** The lines of each paragraph and each item of a list; tables, headings and code are none. */
function paragraphs(page: Page): string[][] {
  const found: string[][] = [[]];
  for (const line of prose(page).split('\n')) {
    if (line.trim() === '' || /^(?:\||#|<!--)/u.test(line)) found.push([]);
    else if (/^\s*(?:-|\d+\.) /u.test(line)) found.push([line]);
    else found.at(-1)?.push(line);
  }
  return found.filter((lines) => lines.length > 0);
}
