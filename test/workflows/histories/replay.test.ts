import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json'));

describe('saved histories replay with the present workflow code', () => {
  it('there are saved histories', () => {
    expect(files.length).toBeGreaterThanOrEqual(8);
  });

  it.each(files)('%s', async (file) => {
    const history = historyFromJSON(JSON.parse(await readFile(`${FOLDER}${file}`, 'utf8')));
    const replaying = Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') } }, history, file);
    await expect(replaying).resolves.toBeUndefined();
  });
});
