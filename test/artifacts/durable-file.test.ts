import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFileDurably } from '../../src/artifacts/durable-file.js';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-durable-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('writeFileDurably: replaces a file as a whole, readable by its owner alone, and leaves no temporary file', async () => {
  const path = join(folder, 'record.json');
  await writeFileDurably(path, 'one');
  await writeFileDurably(path, 'two');
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['record.json']);
});

test('writeFileDurably: a failed write leaves the old content and no temporary file', async () => {
  const path = join(folder, 'taken');
  await mkdir(join(path, 'by-a-folder'), { recursive: true });
  await expect(writeFileDurably(path, 'one')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/u);
  expect(await readdir(folder)).toEqual(['taken']);
});
