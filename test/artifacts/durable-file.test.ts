import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFileDurably } from '../../src/artifacts/durable-file.js';
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
