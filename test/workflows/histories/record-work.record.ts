import { describe, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { updatePlan } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save, fill } = historySaver('0.2');

const look = defineTool({
  name: 'read_file',
  description: 'Reads a file.',
  parameters: z.strictObject({ path: z.string() }),
  effect: 'read',
  execute: ({ path }) => `the text of ${path}`,
});
const edit = defineTool({
  name: 'edit_file',
  description: 'Edits a file.',
  parameters: z.strictObject({ path: z.string() }),
  execute: ({ path }) => `edited ${path}`,
});

const steps = (status: string) => [{ step: 'mend it', status }];

describe('record a run whose end is looked at', () => {
  const { worker, start } = useWorkers();

  it('its work in one history, its end in the next', async () => {
    const answers = [
      () => call(['update_plan', { steps: steps('pending') }], ['read_file', { path: 'a.ts' }]),
      () => call(['edit_file', { path: 'a.ts' }]),
      () => call(['read_file', { path: 'b.ts' }]),
      () => say('The file is mended.'),
      () => call(['update_plan', { steps: steps('done') }]),
      () => call(['edit_file', { path: 'a.ts' }]),
      () => say('The file is mended, and the updatePlan is done.'),
      () => call(['read_file', { path: 'a.ts' }]),
    ];
    const last = latch();
    const on = await worker({
      identity: 'recorder',
      model: async (_, n) => {
        if (n === 3) await last.opened;
        return answers[n - 1]?.() ?? say('The file is mended, and it was read again.');
      },
      tools: [updatePlan, look, edit],
      policy: {
        completion: {
          checks: ['plan-finished', 'edits-verified', 'phases-done'],
          phases: [{ name: 'change', tools: ['edit_file'] }],
        },
      },
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 60 } });
    await until(() => on.requests.length === 3, 'the third request');
    await run.handle.signal('pause');
    last.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    await fill('checked-end-1', on, run, 'pause');
    await run.handle.signal('resume');
    await save('checked-end-2', run);
  });
});
