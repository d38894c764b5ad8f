import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fileCircles, folderCircles, type ImportGraph, reachedFrom, readImportGraph } from './support/import-graph.js';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const TESTS = fileURLToPath(new URL('../', import.meta.url));
const LINES_MAX = 300;
const LINES_MIN = 15;
const ENTRIES_MAX = 20;

describe('the source tree', () => {
  let graph: ImportGraph;
  beforeAll(async () => {
    graph = await readImportGraph(SOURCES);
  });

  it(`no file is longer than ${LINES_MAX} lines`, () => {
    expect(graph.texts.size).toBeGreaterThan(100);
    expect(files(([, text]) => lines(text) > LINES_MAX)).toEqual([]);
  });

  it(`no file is shorter than ${LINES_MIN} lines, but doors, data and the mains of processes`, () => {
    expect(files(isShort)).toEqual([]);
  });

  it(`no folder has more than ${ENTRIES_MAX} entries`, async () => {
    const wide = [...(await wideFolders(SOURCES)), ...(await wideFolders(TESTS))];
    // saved histories are data: a file for each wait of each release
    expect(wide.filter((folder) => folder !== join(TESTS, 'workflows', 'histories'))).toEqual([]);
  });

  it('every relative import leads to a file, so that the graph is whole', () => {
    expect(graph.lost.filter(({ to }) => !to.startsWith('..'))).toEqual([]);
  });

  it('no files import each other in a circle, nor for types', () => {
    expect(fileCircles(graph)).toEqual([]);
  });

  it('no arrow runs back up between folders', () => {
    expect(folderCircles(graph)).toEqual([]);
  });

  it.each(['providers', 'models', 'tools', 'process', 'artifacts', 'output'])('%s reaches no Temporal package, by any way', (room) => {
    const reached = reachedFrom(graph, filesOf(room));
    expect(reached.size).toBeGreaterThan(filesOf(room).length);
    expect([...reached].filter((name) => name.startsWith('@temporalio/'))).toEqual([]);
  });

  it('the contracts reach zod, hashes and the definitions of handlers, and nothing else', () => {
    expect(packagesOf(filesOf('contracts'))).toEqual([
      '@noble/hashes/hmac.js',
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      '@temporalio/workflow',
      'zod',
    ]);
  });

  it('workflows reach no zod, by any way: each run of a worker would build the schemas for itself', () => {
    expect(packagesOf(filesOf('workflows'))).toEqual([
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      '@temporalio/common',
      '@temporalio/workflow',
    ]);
  });

  it('modules of workflows keep no state: all runs of a sandbox share them', () => {
    const own = [...reachedFrom(graph, filesOf('workflows'))].filter((name) => graph.texts.has(name));
    expect(own.length).toBeGreaterThan(80);
    expect(
      own.filter((file) => /^(?:export )?(?:let|var) |^(?:export )?const \w+ = new (?:Map|WeakMap)\b/mu.test(graph.texts.get(file) ?? '')),
    ).toEqual([]);
  });

  it('the door of users reaches neither Temporal nor Node', () => {
    expect(packagesOf(['define/index.ts'])).toEqual(['@cfworker/json-schema', 'zod']);
  });

  function files(matches: (entry: readonly [string, string]) => boolean): string[] {
    return [...graph.texts].filter(matches).map(([file]) => file);
  }

  function filesOf(room: string): string[] {
    return [...graph.texts.keys()].filter((file) => file.startsWith(`${room}/`));
  }

  function packagesOf(loaded: readonly string[]): string[] {
    return [...reachedFrom(graph, loaded)].filter((name) => !graph.texts.has(name)).toSorted();
  }
});

describe('a planted fault is found, and told with its files', () => {
  it('a circle of two files, though one takes only a type', async () => {
    const graph = await planted({
      'client/one.ts': `import { two } from './two.js';\nexport const one = two;\n`,
      'client/two.ts': `import type { One } from './one.js';\nexport const two: One = 2;\n`,
    });
    expect(fileCircles(graph)).toEqual([['client/one.ts -> client/two.ts', 'client/two.ts -> client/one.ts']]);
  });

  it('an arrow that runs back up between two folders, though no file is in a circle', async () => {
    const graph = await planted({
      'workflows/turn/ask.ts': `import { wait } from '../state/wait.js';\nexport const ask = wait;\n`,
      'workflows/state/wait.ts': `export const wait = 1;\n`,
      'workflows/state/run.ts': `import { retry } from '../turn/retry.js';\nexport const run = retry;\n`,
      'workflows/turn/retry.ts': `export const retry = 1;\n`,
    });
    expect(fileCircles(graph)).toEqual([]);
    expect(folderCircles(graph).map((circle) => circle.toSorted())).toEqual([
      ['workflows/state/run.ts -> workflows/turn/retry.ts', 'workflows/turn/ask.ts -> workflows/state/wait.ts'],
    ]);
  });
});

function isShort([file, text]: readonly [string, string]): boolean {
  return lines(text) < LINES_MIN && !file.endsWith('index.ts') && /\bexport\b/u.test(text) && /\bfunction\b|=>/u.test(text);
}

async function planted(files: Readonly<Record<string, string>>): Promise<ImportGraph> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-tree-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return await readImportGraph(folder);
}

async function wideFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const below = await Promise.all(entries.filter((entry) => entry.isDirectory()).map(({ name }) => wideFolders(join(folder, name))));
  return [...(entries.length > ENTRIES_MAX ? [folder] : []), ...below.flat()];
}

function lines(text: string): number {
  return text.trimEnd().split('\n').length;
}
