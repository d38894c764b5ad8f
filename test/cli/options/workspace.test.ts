import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkWorkspace } from '../../../src/cli/options/workspace.js';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-workspace-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const check = (path: string, iKnow = false) => checkWorkspace(path, { iKnow, cwd: folder });

describe('checkWorkspace', () => {
  it('a relative folder becomes absolute, a link the folder it leads to', async () => {
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    expect(await check('real')).toBe(join(folder, 'real'));
    expect(await check('link')).toBe(join(folder, 'real'));
  });

  it('B28: a missing folder, a file and a folder that may not be written are each told apart', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(check('missing')).rejects.toMatchObject({
      code: 'WORKSPACE',
      exitCode: 2,
      message: expect.stringContaining('does not exist'),
    });
    await expect(check('file')).rejects.toThrow('is not a folder');
  });

  it('B28: a folder that may not be written is refused, but for root, who may write everywhere', async () => {
    await mkdir(join(folder, 'closed'));
    await chmod(join(folder, 'closed'), 0o500);
    const answer = await check('closed').catch((error: unknown) => String(error));
    expect(answer).toContain(process.getuid?.() === 0 ? join(folder, 'closed') : 'is not readable and writable for you');
  });

  it.each(['/', homedir()])('B28: %s is refused without --i-know, also by way of a link', async (path) => {
    await symlink(path, join(folder, 'link'));
    for (const way of [path, relative(folder, path), 'link']) await expect(check(way)).rejects.toThrow('allow it with --i-know');
    expect(await check(path, true)).toBe(await realpath(path));
  });
});
