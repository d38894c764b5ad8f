import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const LINES_MAX = 300;

describe('the source tree', () => {
  let texts: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter((file) => file.endsWith('.ts'));
    texts = new Map(await Promise.all(files.map(async (file) => [file, await readFile(join(SOURCES, file), 'utf8')] as const)));
  });

  it(`no file is longer than ${LINES_MAX} lines`, () => {
    expect(texts.size).toBeGreaterThan(100);
    const tooLong = [...texts].filter(([, text]) => text.trimEnd().split('\n').length > LINES_MAX).map(([file]) => file);
    expect(tooLong).toEqual([]);
  });

  it('every relative import leads to a file, so that the graph below is whole', () => {
    const lost = [...texts.keys()].flatMap((file) => importsOf(file).filter((name) => name.startsWith('lost:')));
    expect(lost).toEqual([]);
  });

  it.each(['activities/providers', 'activities/tools'])('%s reaches no Temporal package, by any way', (folder) => {
    const reached = reachedFrom(filesOf(folder));
    expect(reached.size).toBeGreaterThan(filesOf(folder).length);
    expect([...reached].filter((name) => name.startsWith('@temporalio/'))).toEqual([]);
  });

  it('the contracts reach zod, hashes and the definitions of handlers, and nothing else', () => {
    const packages = [...reachedFrom(filesOf('contracts'))].filter((name) => !texts.has(name));
    expect(packages.toSorted()).toEqual(['@noble/hashes/sha2.js', '@noble/hashes/utils.js', '@temporalio/workflow', 'zod']);
  });

  it('workflows reach no zod, by any way: each run of a worker would build the schemas for itself', () => {
    const packages = [...reachedFrom(filesOf('workflows'))].filter((name) => !texts.has(name));
    expect(packages.toSorted()).toEqual(['@noble/hashes/sha2.js', '@noble/hashes/utils.js', '@temporalio/common', '@temporalio/workflow']);
  });

  it('the door of users reaches neither Temporal nor Node', () => {
    const packages = [...reachedFrom(['define/index.ts'])].filter((name) => !texts.has(name));
    expect(packages).toEqual(['zod']);
  });

  function filesOf(folder: string): string[] {
    return [...texts.keys()].filter((file) => file.startsWith(`${folder}/`));
  }

  /** All files and packages that are loaded with some files; types are not. */
  function reachedFrom(files: readonly string[]): Set<string> {
    const reached = new Set(files);
    for (const file of reached) for (const imported of texts.has(file) ? importsOf(file) : []) reached.add(imported);
    return reached;
  }

  function importsOf(file: string): string[] {
    const text = texts.get(file) ?? '';
    const statements = text.matchAll(
      /(?:^|\n)(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s)?['"](?<name>[^'"]+)['"]|import\(['"](?<lazy>[^'"]+)['"]\)/gu,
    );
    return [...statements].map(({ groups }) => {
      const name = groups?.['name'] ?? groups?.['lazy'] ?? '';
      if (!name.startsWith('.')) return name;
      const path = relative(SOURCES, resolve(SOURCES, dirname(file), name.replace(/\.js$/u, '.ts')));
      return existsSync(join(SOURCES, path)) ? path : `lost:${path} (from ${file})`;
    });
  }
});
