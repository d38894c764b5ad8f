import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['README.md', ...markdownFiles()];

const pages = new Map<string, string>();
let files: readonly string[];
beforeAll(async () => {
  for (const page of PAGES) pages.set(page, await readFile(`${root}${page}`, 'utf8'));
  const folders = await Promise.all(['src', 'test', 'examples', 'docs'].map((name) => filesOf(name)));
  files = folders.flat();
});

describe('what pages name', () => {
  it.each(PAGES)('%s: every source file it names is there', (page) => {
    const named = matches(page, /`(?:\.\/)?(?<name>[\w./-]+\.test\.ts|[\w./-]*[\w-]\.ts)`/gu).filter(
      (name) => name !== 'perdure.config.ts',
    );
    expect(named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
  });

  it.each(PAGES)('%s: every page it leads to is there', (page) => {
    const led = matches(page, /\]\((?<name>(?!https?:)[\w./-]+)(?:#[\w-]+)?\)/gu).map((name) => join(dirname(page), name));
    expect(led.filter((name) => !existsSync(`${root}${name}`))).toEqual([]);
  });

  it.each(PAGES)('%s: every npm script it names is there', async (page) => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(`${root}package.json`, 'utf8')));
    expect(matches(page, /npm run (?<name>[\w:-]+)/gu).filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('the pages name enough for this to mean something', () => {
    expect(matches('docs/architecture.md', /`(?<name>[\w./-]+\.ts)`/gu).length).toBeGreaterThan(30);
    expect(matches('README.md', /npm run (?<name>[\w:-]+)/gu).length).toBeGreaterThan(1);
  });
});

function matches(page: string, pattern: RegExp): string[] {
  return [...(pages.get(page) ?? '').matchAll(pattern)].map(({ groups }) => groups?.['name'] ?? '');
}

async function filesOf(folder: string): Promise<string[]> {
  const found = await readdir(`${root}${folder}`, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`.slice(root.length));
}

/** The pages of docs/, as paths from the root. */
function markdownFiles(): string[] {
  const found = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' });
  return found.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
}
