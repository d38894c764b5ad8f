import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFileOnce, writeFileDurably } from '../../src/artifacts/durable-file.js';
import { useTempFolder } from '../support/temp-folder.js';

const folder = useTempFolder('perdure-durable-');

test('writeFileDurably: replaces a file as a whole, readable by its owner alone, and leaves no temporary file', async () => {
  const path = join(folder.path, 'record.json');
  await writeFileDurably(path, 'one');
  await writeFileDurably(path, 'two');
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(['record.json']);
});

test('writeFileDurably: a failed write leaves the old content and no temporary file', async () => {
  const path = join(folder.path, 'taken');
  await mkdir(join(path, 'by-a-folder'), { recursive: true });
  await expect(writeFileDurably(path, 'one')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/u);
  expect(await readdir(folder.path)).toEqual(['taken']);
});

test('createFileOnce: a reader sees the whole content or no file', async () => {
  const path = join(folder.path, 'stop');
  const content = 'x'.repeat(1_000);
  for (let round = 0; round < 20; round += 1) {
    const seen: string[] = [];
    const written = new AbortController();
    const writing = createFileOnce(path, content).finally(() => written.abort());
    while (!written.signal.aborted) {
      if (existsSync(path)) seen.push(readFileSync(path, 'utf8'));
      await immediate();
    }
    await writing;
    expect(new Set(seen.concat(readFileSync(path, 'utf8')))).toEqual(new Set([content]));
    await rm(path);
  }
});

test('createFileOnce: of writers at once, one wins, and no temporary file stays', async () => {
  const path = join(folder.path, 'stop');
  const contents = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(1_000));
  const seen = await Promise.all(contents.map(async (content) => (await createFileOnce(path, content), await readFile(path, 'utf8'))));
  expect(contents).toContain(seen[0]);
  expect(new Set(seen).size).toBe(1);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(['stop']);
});
