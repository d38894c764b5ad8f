import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { checkStateFolder } from '../../../src/worker/self-check.js';
import { openStateFolder } from '../../../src/worker/state-folder/state-folder.js';

it('a state folder that was there with a wider mode is closed to other users', async () => {
  const root = await mkdtemp(join(tmpdir(), 'perdure-state-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const dir = join(root, '.perdure');
  expect(await checkStateFolder(dir)).toMatchObject({ level: 'ok' });
  await mkdir(join(dir, 'logs'), { recursive: true });
  for (const path of [dir, join(dir, 'logs')]) await chmod(path, 0o777);
  expect(await checkStateFolder(dir)).toMatchObject({ level: 'warn', advice: `let its owner run: chmod 700 ${dir}` });
  const folder = await openStateFolder(dir);
  for (const path of [folder.dir, folder.logs, folder.streams]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect(await checkStateFolder(dir)).toMatchObject({ level: 'ok', detail: dir });
});

it('a folder that others need keeps its mode: one for temporary files, and one that holds the project', async () => {
  const root = await mkdtemp(join(tmpdir(), 'perdure-state-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [temporary, project] = [join(root, 'tmp'), join(root, 'project')];
  for (const path of [temporary, join(project, 'src')]) await mkdir(path, { recursive: true });
  await chmod(temporary, 0o1777);
  await chmod(project, 0o755);
  const here = vi.spyOn(process, 'cwd').mockReturnValue(join(project, 'src'));
  onTestFinished(() => here.mockRestore());
  for (const [path, mode] of [
    [temporary, 0o1777],
    [project, 0o755],
  ] as const) {
    await openStateFolder(path);
    expect((await stat(path)).mode & 0o7777).toBe(mode);
    expect(await checkStateFolder(path)).toMatchObject({ level: 'warn' });
  }
});
