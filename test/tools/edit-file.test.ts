import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEditFile } from '../../src/tools/edit-file.js';
import { tempWorkspace } from './support/temp-workspace.js';

const editFile = createEditFile([]);

const EDITS = [
  { text: 'let a = 1;\n', oldText: 'a = 1', newText: 'b = 2' },
  { text: 'keep\ndrop\n', oldText: 'drop\n', newText: '' },
  { text: 'b = 2; a = 1;', oldText: 'a = 1', newText: 'b = 2' },
  { text: 'one\r\ntwo\r\n', oldText: 'one\ntwo', newText: 'three\nfour' },
];

const IN_DOUBT = [
  // the new text holds the old one, and is there: by this edit or before it
  { text: 'ab', oldText: 'a', newText: 'ab' },
  // the edit made a new occurrence of the old text: "aab" became "ab"
  { text: 'ab', oldText: 'ab', newText: 'b' },
  { text: 'neither', oldText: 'old', newText: 'new' },
  { text: 'old old', oldText: 'old', newText: 'new' },
];

describe('edit_file', () => {
  test('the one place is changed, the rest stays byte for byte', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', '\uFEFFone\ntwo $& three\n');
    expect(await editFile.execute({ path: 'a.txt', oldText: 'two', newText: '$& 2' }, workspace.context())).toBe('edited a.txt');
    expect(await workspace.read('a.txt')).toBe('\uFEFFone\n$& 2 $& three\n');
  });

  test.each([
    ['absent', 'TEXT_NOT_FOUND'],
    ['twice', 'TEXT_NOT_UNIQUE'],
    ['aa', 'TEXT_NOT_UNIQUE'],
  ])('oldText %s is refused as %s and nothing is changed', async (oldText, code) => {
    const workspace = await tempWorkspace();
    const text = 'twice twice aaa';
    await workspace.put('a.txt', text);
    await expect(editFile.execute({ path: 'a.txt', oldText, newText: 'x' }, workspace.context())).rejects.toThrow(
      new RegExp(`^${code}: `, 'u'),
    );
    expect(await workspace.read('a.txt')).toBe(text);
  });

  test('in a file with \\r\\n the edit gets the same line ends', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'one\r\ntwo\r\nthree\r\n');
    await editFile.execute({ path: 'a.txt', oldText: 'one\ntwo', newText: 'one\nnew\ntwo' }, workspace.context());
    expect(await workspace.read('a.txt')).toBe('one\r\nnew\r\ntwo\r\nthree\r\n');
  });

  test('a file that is no UTF-8 text is refused, so that no byte of it is lost', async () => {
    const workspace = await tempWorkspace();
    await writeFile(join(workspace.root, 'latin1.txt'), Buffer.from([0x67, 0x72, 0xfc, 0x6e]));
    await expect(editFile.execute({ path: 'latin1.txt', oldText: 'gr', newText: 'x' }, workspace.context())).rejects.toThrow(
      /^NOT_TEXT: /u,
    );
  });

  test('arguments that change nothing or match everything are refused', () => {
    expect(editFile.parameters.safeParse({ path: 'a', oldText: 'x', newText: 'x' }).success).toBe(false);
    expect(editFile.parameters.safeParse({ path: 'a', oldText: '', newText: 'x' }).success).toBe(false);
  });

  test.each(EDITS)(
    'after a lost worker the file tells: before $newText for $oldText not_started, after it done',
    async ({ text, oldText, newText }) => {
      const workspace = await tempWorkspace();
      await workspace.put('a.txt', text);
      const args = { path: 'a.txt', oldText, newText };
      expect(await editFile.reconcile?.(args, workspace.context())).toEqual({ kind: 'not_started' });
      const result = await editFile.execute(args, workspace.context());
      expect(await editFile.reconcile?.(args, workspace.context())).toEqual({ kind: 'done', result });
    },
  );

  test.each(IN_DOUBT)('what the file "$text" cannot tell is unknown, never a second edit', async ({ text, oldText, newText }) => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', text);
    expect(await editFile.reconcile?.({ path: 'a.txt', oldText, newText }, workspace.context())).toEqual({ kind: 'unknown' });
  });
});
