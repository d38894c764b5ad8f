import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFile } from '../../src/tools/read-file.js';
import { tempWorkspace, textOf } from './support/temp-workspace.js';

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

describe('read_file', () => {
  test('a text comes back exactly as it is', async () => {
    const workspace = await tempWorkspace();
    for (const text of ['one\n\n  two\r\nthree', 'ü€😀\n'.repeat(1_900), '\n']) {
      await workspace.put('a.txt', text);
      expect(await readFile.execute({ path: 'a.txt' }, workspace.context())).toBe(text);
    }
  });

  test('offset and limit give a window and say how to read on', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', numbered(100));
    const read = (offset: number, limit?: number): unknown =>
      readFile.execute({ path: 'a.txt', offset, ...(limit === undefined ? {} : { limit }) }, workspace.context());
    expect(await read(11, 2)).toBe('line 11\nline 12\n[lines 11-12; the file has 792 bytes and continues: read with offset 13]');
    expect(await read(99)).toBe('line 99\nline 100\n[lines 99-100 of 100, the end of the file]');
    await expect(read(101)).rejects.toThrow('BAD_OFFSET: "a.txt" has 100 lines');
  });

  test('reading on by the offset of each footer gives the whole of a large file', async () => {
    const workspace = await tempWorkspace();
    const text = numbered(12_000);
    await workspace.put('a.txt', text);
    let whole = '';
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const part: string = await textOf(readFile.execute({ path: 'a.txt', offset }, workspace.context()));
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(50 * 1_024);
      const [lines = '', footer = '']: string[] = part.split(/(?=\[lines )/u);
      whole += lines;
      const next: string | undefined = /offset (\d+)\]/u.exec(footer)?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(whole).toBe(text);
  });

  test('one endless line is cut and named, and a 5 GB file is read from without reading it all', async () => {
    const workspace = await tempWorkspace();
    const file = await open(join(workspace.root, 'huge.txt'), 'w');
    await file.write(Buffer.alloc(1_000_000, 'x'));
    await file.truncate(5_000_000_000);
    await file.close();
    const text = await textOf(readFile.execute({ path: 'huge.txt' }, workspace.context()));
    expect(text).toMatch(/^x{50000,}\n\[line 1 is cut; the file has 4768\.4 MiB;/u);
  });

  test('an empty file is said to be empty, a binary one is refused', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('empty', '');
    await writeFile(join(workspace.root, 'image.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]));
    expect(await readFile.execute({ path: 'empty' }, workspace.context())).toBe('[the file is empty]');
    await expect(readFile.execute({ path: 'image.png' }, workspace.context())).rejects.toThrow(/^NOT_TEXT: /u);
  });
});
