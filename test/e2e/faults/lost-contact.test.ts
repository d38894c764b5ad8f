import { randomUUID } from 'node:crypto';
import { afterEach, expect, inject, test } from 'vitest';
import type { WireServer } from '../../../src/testing/index.js';
import { type CutProxy, startCutProxy } from '../../client/support/cut-proxy.js';
import { until } from '../../support/use-workers.js';
import { startOwnedWorker, useRuns } from '../support/owned-workers.js';
import { type PerdureFolder, usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

const HEARTBEAT_TIMEOUT_MS = 5_000;

const proxies: CutProxy[] = [];
// registered before the folders, whose processes must end first
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
const folder = usePerdureFolders();
const model = useModels();
const startRun = useRuns();

test('A4: a `once` tool has its effect once when its worker loses contact and lives on', async () => {
  const { here, wire, run, proxy, first } = await twoWorkers('charge');
  proxy.cut();
  await until(async () => (await here.startsOf('charge')).length === 2, 'the second start', WAIT_MS_MAX);
  // nothing holds the first one either, which still has no way to the server
  await here.release();
  expect(await run.result()).toMatchObject({ reason: 'completed' });
  await expectEffects(here, 'charge', 1);
  proxy.heal();
  expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('charge a done');
  expect(first.isRunning).toBe(true);
  const events = await run.events();
  expect(events).toContainEqual(expect.objectContaining({ type: 'worker.lost', why: 'unreachable' }));
  const wait = expect.stringContaining('the earlier attempt of charge may still run until');
  expect(events).toContainEqual(expect.objectContaining({ type: 'waiting', for: wait }));
});

test.each(['charge', 'charge_owned'])(
  'A4: a `once` tool has its effect at most once when its worker was suspended, and it looks before its effect: %s',
  async (tool) => {
    const { here, run, first } = await twoWorkers(tool);
    let isEnded = false;
    void run.result().finally(() => {
      isEnded = true;
    });
    first.child.kill('SIGSTOP');
    // the server still hands tasks to a suspended worker: then a reconcile is lost too, and the outcome is unknown
    const isDecided = async (): Promise<boolean> => isEnded || (await here.startsOf(tool)).length === 2;
    await until(isDecided, 'the second start, or the end of the run', 1.5 * WAIT_MS_MAX);
    const effects = isEnded ? 0 : 1;
    await here.release();
    first.child.kill('SIGCONT');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    await expectEffects(here, tool, effects);
    expect(first.isRunning).toBe(true);
  },
);

/** A run whose tool waits on one of two workers, each of which reaches the server over a proxy of its own. `first` has the call. */
async function twoWorkers(tool: string) {
  const wire: WireServer = await model({ script: { steps: [{ toolCalls: [{ name: tool, args: { name: 'a' } }] }, { text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  const on = { taskQueue: `e2e-lost-${randomUUID()}`, heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  await here.hold();
  const workers = await Promise.all(
    ['a', 'b'].map(async (state) => {
      const proxy = await startCutProxy(inject('temporalAddress'));
      proxies.push(proxy);
      return { proxy, first: await startOwnedWorker(here, { ...on, address: proxy.address, state }) };
    }),
  );
  const run = await startRun({ ...on, address: inject('temporalAddress') });
  await here.started(tool);
  const [start] = await here.startsOf(tool);
  const holder = workers.find(({ first }) => first.pid === start?.pid);
  if (!holder) throw new Error('no worker has the call');
  return { here, wire, run, ...holder };
}

async function expectEffects(here: PerdureFolder, tool: string, effects: number): Promise<void> {
  // another effect would follow at once: nothing holds it any more
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect((await here.effects()).filter((effect) => effect.what === 'end' && effect.tool === tool)).toHaveLength(effects);
}
