import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anchors, links, pageText, ROOT, readPages, writtenPages } from './support/pages.js';

const REFERENCE = readPages('docs/reference');
const PAGES = [...writtenPages(), ...REFERENCE];

describe('what pages name', () => {
  let files: readonly string[];
  beforeAll(async () => {
    const folders = await Promise.all(['src', 'test', 'examples', 'docs'].map((name) => filesOf(name)));
    files = folders.flat();
  });

  it.each(PAGES)('$path: every source file it names is there', ({ text }) => {
    const named = matches(text, /`(?:\.\/)?(?<name>[\w./-]+\.test\.ts|[\w./-]*[\w-]\.ts)`/gu).filter(
      (name) => name !== 'perdure.config.ts',
    );
    expect(named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
  });

  it.each(PAGES)('$path: every folder of the sources, or beside it, that it names is there', ({ path, text }) => {
    const named = matches(text, /`(?<name>(?:src|test|lint|docs|examples)\/[\w./-]*)`/gu);
    expect(named.filter((name) => ![ROOT, join(ROOT, dirname(path))].some((folder) => existsSync(join(folder, name))))).toEqual([]);
  });

  it.each(PAGES)('$path: every page it leads to is there, with the heading', (page) => {
    const lost = links(page).filter(({ file, anchor }) => !leadsSomewhere(file, anchor));
    expect(lost.map(({ file, anchor = '' }) => `${file}#${anchor}`)).toEqual([]);
  });

  it.each(PAGES)('$path: every npm script it names is there', ({ text }) => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    expect(matches(text, /npm run (?<name>[\w:-]+)/gu).filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('every guide is linked from the front page, every page of the reference from its index', () => {
    const linked = new Set(links({ path: 'README.md', text: pageText('README.md') }).map(({ file }) => file));
    expect(PAGES.map(({ path }) => path).filter((path) => path.startsWith('docs/guides/') && !linked.has(path))).toEqual([]);
    const index = 'docs/reference/README.md';
    const listed = new Set([index, ...links({ path: index, text: pageText(index) }).map(({ file }) => file)]);
    expect(linked).toContain(index);
    expect(REFERENCE.map(({ path }) => path).filter((path) => !listed.has(path))).toEqual([]);
  });

  it('the pages name enough for this to mean something', () => {
    expect(matches(pageText('docs/architecture.md'), /`(?<name>[\w./-]+\.ts)`/gu).length).toBeGreaterThan(25);
    expect(matches(pageText('README.md'), /npm run (?<name>[\w:-]+)/gu).length).toBeGreaterThan(1);
    expect(PAGES.flatMap(links).length).toBeGreaterThan(100);
  });
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(({ groups }) => groups?.['name'] ?? '');
}

function leadsSomewhere(file: string, anchor: string | undefined): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  return anchor === undefined || anchors(pageText(file)).includes(anchor);
}

async function filesOf(folder: string): Promise<string[]> {
  const found = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`.slice(ROOT.length));
}
