import { describe, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { loseWorker } from './lose-worker.js';
import { historySaver } from './save-history.js';

const { save } = historySaver('0.4');

describe('record runs with lost calls', () => {
  const { worker, start } = useWorkers();

  it('one whose host has the result in the end', async () => {
    const [started, ended] = [latch(), latch()];
    const run = await losing(async () => {
      started.open();
      await ended.opened;
      return 'sent in the end';
    });
    await started.opened;
    await loseWorker(run.on, run.run, 'Worker.Shutdown');
    await until(async () => (await run.run.events()).some(({ type }) => type === 'waiting'), 'the wait for the earlier attempt');
    ended.open();
    await save('lost-recalled', run.run);
  });

  it('one that starts again after its earlier attempt has ended', async () => {
    const run = await losingFirstAttempt();
    await loseWorker(run.on, run.run, 'Worker.Shutdown');
    await save('lost-restarted', run.run);
  });

  it('one whose worker died', async () => {
    const run = await losingFirstAttempt();
    await loseWorker(run.on, run.run);
    await save('lost-died', run.run);
  });

  /** A run whose call runs, and ends at its second attempt. */
  async function losingFirstAttempt() {
    const started = latch();
    let starts = 0;
    const run = await losing(async ({ signal }) => {
      if ((starts += 1) > 1) return 'sent';
      started.open();
      return await untilAborted(signal);
    });
    await started.opened;
    return run;
  }

  async function losing(execute: (ctx: ToolContext) => Promise<string>) {
    const tool = defineTool({
      name: 'send',
      description: 'Sends.',
      parameters: z.strictObject({}),
      execute: (_, ctx) => execute(ctx),
      reconcile: () => Promise.resolve({ kind: 'not_started' }),
    });
    const on = await worker({
      identity: 'recorder',
      model: (_, n) => (n === 1 ? call(['send', {}]) : say('sent')),
      tools: [tool],
      policy: {},
    });
    return { on, run: await start(on) };
  }
});
