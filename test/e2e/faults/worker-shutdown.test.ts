import { expect, inject, test } from 'vitest';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

test('SIGTERM of a worker with a running tool: the tool ends, nobody takes it for a cancel, and the next worker goes on', async () => {
  const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'done' }] } });
  const here = await folder({ ...modelEnv(wire), TEMPORAL_ADDRESS: inject('temporalAddress') });
  const queue = ['--task-queue', `e2e-shutdown-${process.pid}`];
  const id = `e2e-shutdown-${process.pid}`;
  await here.hold();
  const first = here.start(['worker', ...queue]);
  await first.prints('worker on queue');
  const run = here.start(['run', 'go', '--model', 'openai/test', '--id', id, '--events', ...queue]);
  await here.started('send_once');
  first.child.kill('SIGTERM');
  const second = here.start(['worker', ...queue]);
  await second.prints('worker on queue');
  // neither the signal nor the new worker ended the call
  expect(first.isRunning).toBe(true);
  await here.release();
  expect(await first.ended).toMatchObject({ code: 0, signal: null });

  const { stdout } = await run.exits(0);
  expect(stdout).toContain('"reason":"completed"');
  expect(stdout).not.toMatch(/cancel\.requested|worker\.lost/u);
  // the process of the first command, which its supervisor did not start again
  const [pid] = (await here.effects()).map((effect) => effect.pid);
  expect(first.stderr).toContain(`in process ${pid};`);
  expect((await here.effects()).map((effect) => [effect.what, effect.pid])).toEqual([
    ['start', pid],
    ['end', pid],
  ]);
  expect(wire.requests).toHaveLength(2);
  expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('send_once a done');
  expect(await second.kill('SIGTERM')).toMatchObject({ code: 0 });
});
