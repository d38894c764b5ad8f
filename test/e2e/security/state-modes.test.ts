import { mkdir, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

test('A5: with the widest umask, and a state folder of mode 0777, no other user reads a file of a run', async () => {
  const calls = [{ name: 'run_command', args: { command: 'seq 100000' } }];
  const wire = await model({ script: { steps: [{ toolCalls: calls }, { text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  await mkdir(here.workspace, { recursive: true });
  const before = process.umask(0);
  try {
    for (const name of ['.', 'logs', 'streams', 'artifacts']) await mkdir(join(here.stateDir, name), { recursive: true, mode: 0o777 });
    const run = here.start(['run', 'go', '--model', 'openai/test', '--workspace', here.workspace, '--id', 'r1']);
    process.umask(before);
    await run.exits(0);
  } finally {
    process.umask(before);
  }
  const entries = await readdir(here.stateDir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const names = paths.map((path) => relative(here.stateDir, path));
  for (const part of ['temporal.db', 'logs/', 'streams/', 'artifacts/']) expect(names.some((name) => name.startsWith(part))).toBe(true);
  expect((await stat(here.stateDir)).mode & 0o777).toBe(0o700);
  const modes = await Promise.all(paths.map(async (path) => [relative(here.stateDir, path), (await stat(path)).mode & 0o077] as const));
  // it says only that git ignores the folder
  expect(modes.filter(([name, mode]) => mode !== 0 && name !== '.gitignore')).toEqual([]);
});
