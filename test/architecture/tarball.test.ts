import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packPackage } from '../support/packed-package.js';

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourceRoot?: string;
}

describe('D5: the tarball of the package', () => {
  let folder: string;
  let root: string;
  let files: readonly string[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-tarball-'));
    await promisify(execFile)('tar', ['-xzf', await packPackage(folder), '-C', folder]);
    root = join(folder, 'package');
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    files = entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has the source of every map, of code and of types', async () => {
    const maps = files.filter((file) => file.endsWith('.map'));
    expect(maps.filter((file) => file.endsWith('.js.map')).length).toBeGreaterThan(200);
    expect(maps.filter((file) => file.endsWith('.d.ts.map')).length).toBeGreaterThan(200);
    expect((await Promise.all(maps.map(lostSources))).flat()).toEqual([]);
  });

  it('has the map of every file of code, and every map is named by its file', async () => {
    // the script of the page is for browsers, in one file without a map
    const code = files.filter((file) => /^dist\/.+\/.+\.js$/u.test(file) && !file.startsWith('dist/gateway/page/built/'));
    expect(code.filter((file) => !files.includes(`${file}.map`))).toEqual([]);
    const text = await readFile(join(root, code[0] ?? ''), 'utf8');
    expect(text).toMatch(/\/\/# sourceMappingURL=[\w.-]+\.js\.map\s*$/u);
  });

  it('has the documentation, and each page that a page of it links', async () => {
    const pages = files.filter((file) => file.startsWith('docs/') && file.endsWith('.md'));
    expect(pages).toEqual(expect.arrayContaining(['docs/quickstart.md', 'docs/reference/cli.md', 'docs/guides/write-tools.md']));
    const lost = await Promise.all(pages.map(lostPages));
    expect(lost.flat()).toEqual([]);
  });

  it('has the page of the gateway', () => {
    expect(files).toEqual(expect.arrayContaining(['dist/gateway/page/built/page.js', 'dist/gateway/page/built/page.css']));
  });

  it('has the files of the starting project, and no test, secret or state of this repository', () => {
    expect(files).toEqual(expect.arrayContaining(['templates/starter/gitignore', 'templates/starter/agents/support.md', 'bin/perdure']));
    expect(files.filter((file) => /(?:^|\/)(?:\.env|\.perdure|node_modules|coverage)(?:\/|$)|^test\//u.test(file))).toEqual([]);
  });

  async function lostSources(map: string): Promise<string[]> {
    const { sources, sourceRoot = '' }: SourceMap = JSON.parse(await readFile(join(root, map), 'utf8'));
    const paths = sources.map((source) => resolve(root, dirname(map), sourceRoot, source));
    return paths.filter((path) => !path.startsWith(`${root}/`) || !existsSync(path)).map((path) => `${map}: ${relative(root, path)}`);
  }

  /** Links to other pages of the documentation. Those to the rest of the repository are not in the package. */
  async function lostPages(page: string): Promise<string[]> {
    const text = await readFile(join(root, page), 'utf8');
    const linked = [...text.matchAll(/\]\((?!https?:)(?<path>[^)#\s]+\.md)/gu)].map(({ groups }) =>
      join(dirname(page), groups?.['path'] ?? ''),
    );
    return linked.filter((path) => path.startsWith('docs/') && !files.includes(path)).map((path) => `${page}: ${path}`);
  }
});
