import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listFiles } from '../../src/tools/list-files.js';
import { type TempWorkspace, tempWorkspace, textOf } from './support/temp-workspace.js';

async function project(): Promise<TempWorkspace> {
  const workspace = await tempWorkspace();
  for (const path of [
    'README.md',
    'src/a.ts',
    'src/deep/b.ts',
    '~odd/c.ts',
    '.git/config',
    'node_modules/x/index.ts',
    '.perdure/server.json',
    '.github/ci.yml',
  ]) {
    await workspace.put(path, '');
  }
  await symlink('../outside', join(workspace.root, 'link'));
  return workspace;
}

describe('list_files', () => {
  test('without a glob one folder is listed, folders and links marked, the state folder hidden', async () => {
    const workspace = await project();
    const names = (await textOf(listFiles.execute({}, workspace.context()))).split('\n');
    expect(names).toEqual(['.git/', '.github/', 'README.md', 'link@', 'node_modules/', 'src/', '~odd/']);
    expect(await listFiles.execute({ path: 'src' }, workspace.context())).toBe('a.ts\ndeep/');
  });

  test('with a glob all files below are listed, without .git, node_modules, state and what links lead to', async () => {
    const workspace = await project();
    expect(await listFiles.execute({ glob: '**' }, workspace.context())).toBe(
      '.github/ci.yml\nREADME.md\nsrc/a.ts\nsrc/deep/b.ts\n~odd/c.ts',
    );
    expect(await listFiles.execute({ glob: '*.ts' }, workspace.context())).toBe('src/a.ts\nsrc/deep/b.ts\n~odd/c.ts');
    expect(await listFiles.execute({ path: 'src', glob: '*/b.ts' }, workspace.context())).toBe('src/deep/b.ts');
    expect(await listFiles.execute({ path: 'node_modules', glob: '**' }, workspace.context())).toBe('node_modules/x/index.ts');
    expect(await listFiles.execute({ glob: '*.py' }, workspace.context())).toBe('[no files]');
  });

  test.each([
    ['..', 'OUTSIDE_WORKSPACE'],
    ['link', 'OUTSIDE_WORKSPACE'],
    ['.perdure', 'DENIED'],
    ['README.md', 'NOT_A_FOLDER'],
    ['none', 'NOT_FOUND'],
  ])('listing %s is refused as %s', async (path, code) => {
    const workspace = await project();
    for (const glob of [undefined, '**']) {
      const args = glob === undefined ? { path } : { path, glob };
      await expect(listFiles.execute(args, workspace.context())).rejects.toThrow(new RegExp(`^${code}: `, 'u'));
    }
  });

  test('more names than a result may hold are cut with a footer', async () => {
    const workspace = await tempWorkspace();
    await Promise.all(Array.from({ length: 2_500 }, (_, at) => mkdir(join(workspace.root, `d${at}`))));
    expect(await listFiles.execute({}, workspace.context())).toMatch(/\[output cut: .* in 2500 lines; shown: the first 1998 lines/u);
  });

  test('an aborted call stops', async () => {
    const workspace = await project();
    await expect(listFiles.execute({ glob: '**' }, workspace.context({ signal: AbortSignal.abort() }))).rejects.toThrow('aborted');
  });
});
