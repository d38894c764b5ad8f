import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { readRecord, writeRecord } from '../../../src/worker/state-folder/record-file.js';
import { makeStateDir } from '../support/state-dir.js';

const Schema = z.object({ count: z.number() });
let folder = '';
let path = '';
const said: string[] = [];

beforeEach(async () => {
  folder = await makeStateDir();
  path = join(folder, 'some.json');
  said.length = 0;
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('readRecord: gives what was written, and nothing for a missing record', async () => {
  expect(await read()).toBeUndefined();
  await writeRecord(path, { count: 3 });
  expect(await read()).toEqual({ count: 3 });
  expect(said).toEqual([]);
});

test.each([
  ['', 'is empty'],
  ['{"count', 'is truncated or not JSON'],
  ['{"count":"3"}', 'is not a record of this version'],
])('A8: readRecord: %j is set aside with one notice, and the next read finds no record', async (text, problem) => {
  await writeFile(path, text, { mode: 0o600 });
  expect(await read()).toBeUndefined();
  expect(await read()).toBeUndefined();
  expect(said).toEqual([`${path} ${problem}; it is ignored and kept as some.json.unreadable`]);
  expect(await readdir(folder)).toEqual(['some.json.unreadable']);
  expect(await readFile(`${path}.unreadable`, 'utf8')).toBe(text);
});

test('A8: readRecord: a record that is replaced again and again by readable ones is never lost', async () => {
  await writeFile(path, '', { mode: 0o600 });
  const writing = (async () => {
    for (let count = 1; count <= 50; count += 1) await writeRecord(path, { count });
  })();
  for (let round = 0; round < 50; round += 1) await read();
  await writing;
  expect(await read()).toEqual({ count: 50 });
  expect((await readdir(folder)).filter((name) => name !== 'some.json.unreadable')).toEqual(['some.json']);
});

async function read(): Promise<unknown> {
  return readRecord(path, Schema, (line) => said.push(line));
}
