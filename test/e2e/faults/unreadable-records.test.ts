import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

/** What a power loss can leave of the small records of a state folder. */
const RECORDS = ['server.json', 'workers/1-1-00000000.json', 'worker.lock/holder.json'];

test.each([
  ['empty', ''],
  ['truncated', '{"iden'],
])('A8: a state folder with %s records still works: they are set aside, each with one notice', async (_what, text) => {
  const wire = await model({ script: { steps: [{ text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  for (const name of RECORDS) {
    await mkdir(dirname(join(here.stateDir, name)), { recursive: true });
    await writeFile(join(here.stateDir, name), text, { mode: 0o600 });
  }
  const { stderr, stdout } = await here.start(['run', 'go', '--model', 'openai/test']).exits(0);
  expect(stdout).toBe('done\n');
  for (const name of RECORDS) {
    const path = join(here.stateDir, name);
    expect(stderr.split('\n').filter((line) => line.startsWith(`${path} is `))).toHaveLength(1);
    expect(existsSync(`${path}.unreadable`)).toBe(true);
  }
  const again = await here.start(['run', 'go', '--model', 'openai/test']).exits(0);
  expect(again.stderr).not.toContain('unreadable');
});
