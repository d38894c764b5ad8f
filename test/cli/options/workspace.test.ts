import { chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkWorkspace } from '../../../src/cli/options/workspace.js';
import { useTempFolder } from '../../support/temp-folder.js';

const folder = useTempFolder('perdure-workspace-');

const check = (path: string, iKnow = false) => checkWorkspace(path, { iKnow, cwd: folder.path });

describe('checkWorkspace', () => {
  it('a relative folder becomes absolute, a link the folder it leads to', async () => {
    await mkdir(join(folder.path, 'real'));
    await symlink(join(folder.path, 'real'), join(folder.path, 'link'));
    expect(await check('real')).toBe(join(folder.path, 'real'));
    expect(await check('link')).toBe(join(folder.path, 'real'));
  });

  it('B28: a missing folder, a file and a folder that may not be written are each told apart', async () => {
    await writeFile(join(folder.path, 'file'), '');
    await expect(check('missing')).rejects.toMatchObject({
      code: 'WORKSPACE',
      exitCode: 2,
      message: expect.stringContaining('does not exist'),
    });
    await expect(check('file')).rejects.toThrow('is not a folder');
  });

  it('B28: a folder that may not be written is refused, but for root, who may write everywhere', async () => {
    await mkdir(join(folder.path, 'closed'));
    await chmod(join(folder.path, 'closed'), 0o500);
    const answer = await check('closed').catch((error: unknown) => String(error));
    expect(answer).toContain(process.getuid?.() === 0 ? join(folder.path, 'closed') : 'is not readable and writable for you');
  });

  it.each(['/', homedir()])('B28: %s is refused without --i-know, also by way of a link', async (path) => {
    await symlink(path, join(folder.path, 'link'));
    for (const way of [path, relative(folder.path, path), 'link']) await expect(check(way)).rejects.toThrow('allow it with --i-know');
    expect(await check(path, true)).toBe(await realpath(path));
  });
});
