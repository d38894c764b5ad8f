import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkspaceRoot } from '../../../src/cli/options/workspace-root.js';

const home = process.cwd();
const made: string[] = [];

afterEach(async () => {
  process.chdir(home);
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
});

async function folder(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'perdure-root-')));
  made.push(root);
  await mkdir(join(root, 'inside', '..name'), { recursive: true });
  await symlink(tmpdir(), join(root, 'link'));
  return root;
}

describe('the folder that clients may name folders in', () => {
  it('is the one of --workspace, in which runs that name none work', async () => {
    const root = await folder();
    const { workspaceOf } = await openWorkspaceRoot(root);
    expect(await workspaceOf(undefined)).toBe(root);
    expect(await workspaceOf('.')).toBe(root);
    expect(await workspaceOf(root)).toBe(root);
    expect(await workspaceOf('inside')).toBe(join(root, 'inside'));
    expect(await workspaceOf('inside/..name')).toBe(join(root, 'inside', '..name'));
  });

  it('is the current folder without it, and such runs have no workspace', async () => {
    const root = await folder();
    process.chdir(root);
    const { workspaceOf } = await openWorkspaceRoot(undefined);
    expect(await workspaceOf(undefined)).toBeUndefined();
    expect(await workspaceOf('inside')).toBe(join(root, 'inside'));
  });

  it.each(['..', '../x', '/', '/etc', 'link', 'link/x', 'inside/../..'])('%s is not in it', async (requested) => {
    const { workspaceOf } = await openWorkspaceRoot(await folder());
    await expect(workspaceOf(requested)).rejects.toMatchObject({ code: 'WORKSPACE', exitCode: 2 });
  });

  it.each(['/', homedir()])('%s as current folder counts as none, for every folder is inside', async (current) => {
    process.chdir(current);
    const { workspaceOf } = await openWorkspaceRoot(undefined);
    expect(await workspaceOf(undefined)).toBeUndefined();
    await expect(workspaceOf(tmpdir())).rejects.toThrow(/was started without --workspace$/u);
  });

  it('a missing one is refused at the start', async () => {
    await expect(openWorkspaceRoot('/nowhere')).rejects.toMatchObject({ code: 'WORKSPACE' });
  });
});
