import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { STEER_LIMITS } from '../../../src/contracts/constants/limits.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { until } from '../../support/use-workers.js';
import { startOwnedWorker, useRuns } from '../support/owned-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const SENDERS = 16;
const STEERS = 10_000;

const folder = usePerdureFolders();
const model = useModels();
const startRun = useRuns();

test('A15: 10,000 steers of 16 senders to a run that waits: its worker lives, 2,000 are unread, the others are refused, and a cancel works', {
  timeout: 5 * WAIT_MS_MAX,
}, async () => {
  const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  await here.hold();
  const on = { address: inject('temporalAddress'), taskQueue: `e2e-flood-${randomUUID()}`, heartbeatTimeoutMs: 60_000 };
  const worker = await startOwnedWorker(here, on);
  const run = await startRun(on);
  await here.started('send_once');
  await run.handle.signal('pause', {});
  await here.release();
  await until(async () => (await run.progress()).status === 'paused', 'the pause', WAIT_MS_MAX);

  // the server refuses a signal while the run goes on in a fresh history: a sender repeats it, under the same ID
  const send = async (id: string): Promise<void> => {
    while (
      !(await run.handle.signal('steer', { id, text: `message ${id}` }).then(
        () => true,
        () => false,
      ))
    );
  };
  await Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      for (let at = sender; at < STEERS; at += SENDERS) await send(`m${at}`);
    }),
  );
  await until(async () => (await run.progress()).inbox === STEER_LIMITS.unreadMax, 'a full inbox', WAIT_MS_MAX);
  expect(worker.isRunning).toBe(true);
  expect((await run.progress()).status).toBe('paused');
  await run.handle.signal('cancel', { reason: 'enough' });
  expect(await run.result()).toMatchObject({ reason: 'cancelled' });
  expect(worker.isRunning).toBe(true);
  expect(await failedTasks(run.handle.client, run.runId)).toEqual([]);
});
