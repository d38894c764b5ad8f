import { access, chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApplyPatch } from '../../../src/tools/patch/apply-patch.js';
import { tempWorkspace } from '../support/temp-workspace.js';

const applyPatch = createApplyPatch([]);

const THREE = `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/new/b.txt b/new/b.txt
new file mode 100644
--- /dev/null
+++ b/new/b.txt
@@ -0,0 +1,2 @@
+first
+second
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

const part = (from: string, to: string): string => `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
const create = (path: string): string => `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+x\n`;

async function threeFiles() {
  const workspace = await tempWorkspace();
  await workspace.put('a.txt', 'one\ntwo\nthree\n');
  await workspace.put('old.txt', 'gone\n');
  const isThere = (path: string): Promise<boolean> =>
    access(join(workspace.root, path)).then(
      () => true,
      () => false,
    );
  return { workspace, isThere };
}

describe('apply_patch', () => {
  it('changes, creates and deletes files with one diff', async () => {
    const { workspace, isThere } = await threeFiles();
    expect(await applyPatch.execute({ patch: THREE }, workspace.context())).toBe('changed "a.txt"\ncreated "new/b.txt"\ndeleted "old.txt"');
    expect(await workspace.read('a.txt')).toBe('one\n2\nthree\n');
    expect(await workspace.read('new/b.txt')).toBe('first\nsecond\n');
    expect(await isThere('old.txt')).toBe(false);
    expect(await applyPatch.execute({ patch: THREE }, workspace.context())).toBe('nothing to do: all files have these changes already');
  });

  it('takes wrong counts, wrong line numbers, empty lines without their space, and the line ends of the file', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', `${'x\r\n'.repeat(20)}one\r\n\r\ntwo\r\n`);
    const patch = '--- a.txt\n+++ a.txt\n@@ -1,9 +1,7 @@ some function\n one\n\n-two\n+2\n+3\n\n\n';
    await applyPatch.execute({ patch }, workspace.context());
    expect(await workspace.read('a.txt')).toBe(`${'x\r\n'.repeat(20)}one\r\n\r\n2\r\n3\r\n`);
  });

  it('two parts for one file are applied one after the other', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'one\ntwo\n');
    await applyPatch.execute({ patch: part('one', '1') + part('1', 'I') }, workspace.context());
    expect(await workspace.read('a.txt')).toBe('I\ntwo\n');
  });

  it.each([
    [
      'a part does not fit',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-four\n+4\n',
      /place 1 of 1 does not fit "a.txt": the file has no line "four"/u,
    ],
    ['a file is missing', '--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-a\n+b\n', /"none.txt" does not exist/u],
    ['a new file exists', '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n', /"a.txt" exists already, with another text/u],
  ])('%s: it says which, and no file is changed', async (_why, wrong, message) => {
    const { workspace, isThere } = await threeFiles();
    const refused = applyPatch.execute({ patch: THREE + wrong }, workspace.context());
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(/^PATCH_FAILED: .*Nothing was changed$/u);
    expect(await workspace.read('a.txt')).toBe('one\ntwo\nthree\n');
    expect([await isThere('new/b.txt'), await isThere('old.txt')]).toEqual([false, true]);
  });

  it.each([
    ['no diff', 'hello'],
    ['a part without a name', '@@ -1 +1 @@\n-a\n+b\n'],
    ['a rename', 'diff --git a/a.txt b/c.txt\nsimilarity index 100%\nrename from a.txt\nrename to c.txt\n'],
    ['two names', '--- a/a.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-one\n+1\n'],
    ['a binary file', 'diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ\n'],
    ['a name without changes', '--- a/a.txt\n+++ b/a.txt\n'],
    ['too many files', Array.from({ length: 101 }, (_, n) => `--- /dev/null\n+++ b/f${n}\n@@ -0,0 +1 @@\n+x\n`).join('')],
  ])('%s is refused', async (_what, patch) => {
    const { workspace } = await threeFiles();
    await expect(applyPatch.execute({ patch }, workspace.context())).rejects.toThrow(/^BAD_PATCH: .*Nothing was changed$/u);
  });

  it('B-11: leads out of the workspace neither by its names nor by a link, and changes nothing that is protected', async () => {
    const { workspace } = await threeFiles();
    await symlink(workspace.outside, join(workspace.root, 'link'));
    for (const path of ['../x', '/etc/x', 'b/../../x', 'link/x'])
      await expect(applyPatch.execute({ patch: create(path) }, workspace.context())).rejects.toThrow(/^OUTSIDE_WORKSPACE: /u);
    await expect(applyPatch.execute({ patch: create('b/.git/hooks/pre-commit') }, workspace.context())).rejects.toThrow(/^DENIED: /u);
    await expect(
      applyPatch.execute({ patch: THREE }, { ...workspace.context(), signal: AbortSignal.abort(new Error('stopped')) }),
    ).rejects.toThrow('stopped');
    expect(await workspace.read('a.txt')).toBe('one\ntwo\nthree\n');
  });

  it('a file that cannot be written takes back those before it', async () => {
    const { workspace, isThere } = await threeFiles();
    await chmod(join(workspace.root, 'old.txt'), 0o444);
    await expect(applyPatch.execute({ patch: THREE }, workspace.context())).rejects.toThrow(/^READ_ONLY: "old.txt"/u);
    expect(await workspace.read('a.txt')).toBe('one\ntwo\nthree\n');
    expect(await isThere('new/b.txt')).toBe(false);
  });

  it('reconcile finds what a lost worker did; a patch that stopped between two files is started again and writes the others', async () => {
    const { workspace, isThere } = await threeFiles();
    const args = { patch: THREE };
    expect(await applyPatch.reconcile?.(args, workspace.context())).toEqual({ kind: 'not_started' });
    await workspace.put('a.txt', 'one\n2\nthree\n');
    expect(await applyPatch.reconcile?.(args, workspace.context())).toEqual({ kind: 'not_started' });
    expect(await applyPatch.execute(args, workspace.context())).toBe(
      '"a.txt" had its change already\ncreated "new/b.txt"\ndeleted "old.txt"',
    );
    expect(await applyPatch.reconcile?.(args, workspace.context())).toEqual({ kind: 'done', result: 'patched all files' });
    await workspace.put('a.txt', 'other\n');
    expect(await applyPatch.reconcile?.(args, workspace.context())).toEqual({ kind: 'unknown' });
    expect(await isThere('old.txt')).toBe(false);
  });

  it('property: any text becomes any other by the diff between them', async () => {
    const line = fc.constantFrom('', 'a', 'b', ' c', '--- a/x', '+++ b/x', '-- a/x', '++ b/x', '@@ -1 +1 @@', '\\ No newline');
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
    const workspace = await tempWorkspace();
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== after);
        await workspace.put('x', before);
        await applyPatch.execute({ patch: createTwoFilesPatch('a/x', 'b/x', before, after) }, workspace.context());
        expect(await workspace.read('x')).toBe(after);
      }),
      { numRuns: 150 },
    );
  });
});
