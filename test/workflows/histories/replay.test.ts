import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, inject, it } from 'vitest';
import { replayHistory } from '../../support/test-worker.js';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json'));

describe('saved histories replay with the present workflow code', () => {
  it('there are saved histories', () => {
    expect(files.length).toBeGreaterThanOrEqual(8);
  });

  it.each(files)('%s', async (file) => {
    const history = historyFromJSON(JSON.parse(await readFile(`${FOLDER}${file}`, 'utf8')));
    const { workflowId } = history.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    await expect(replayHistory(inject('workflowBundlePath'), history, workflowId ?? file)).resolves.toBeUndefined();
  });

  it('a history with another activity is refused', async () => {
    const text = await readFile(`${FOLDER}0.1-cancelled-before-prepared.json`, 'utf8');
    const history = historyFromJSON(JSON.parse(text.replaceAll('"prepareRun"', '"prepareOther"')));
    await expect(replayHistory(inject('workflowBundlePath'), history, 'other')).rejects.toThrow(/prepareOther/u);
  });
});
