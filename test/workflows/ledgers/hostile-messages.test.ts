import { describe, expect, it } from 'vitest';
import { ledgerId } from '../../../src/contracts/handlers.js';
import type { PlacesRequest, ProviderStatus } from '../../../src/contracts/schemas/ledger.js';
import { askProviderLedger } from '../../../src/worker/hosting/ask-provider-ledger.js';
import { say } from '../../support/agent-worker.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { ledgerOf, rules, statusOf } from './support/tenants.js';

const GARBAGE = [
  null,
  'text',
  [],
  {},
  { runId: 'x', chain: 'y', n: 1, costUsd: 0 },
  { runId: 'x', chain: 'y', n: 1, costUsd: 0, limits: { maxCostUsdPerDay: 'all of it' } },
  { runId: 'x', chain: 'y', n: 1, costUsd: 0, limits: {}, bounds: { dayMs: 0 } },
  { runId: 'x', chain: 'y', n: 1, costUsd: -1, limits: {} },
  { runId: 'x'.repeat(5_000), chain: 'y', n: 1, costUsd: 0, limits: {} },
];

describe('what anybody sends a ledger', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  it('that is no message of a run is dropped, and no task of the ledger or of a run fails', async () => {
    const held = latch();
    const on = await worker({
      tenants: rules({ maxRuns: 1 }),
      model: async () => {
        await held.opened;
        return say('done');
      },
    });
    const first = await start(on, { tenant: 'acme' });
    await until(async () => (await statusOf(on, 'acme'))?.runs === 1, 'the first run');
    const second = await start(on, { tenant: 'acme' });
    await until(async () => (await second.progress()).status === 'waiting', 'the wait');
    const ledger = ledgerOf(on, 'acme');
    for (const garbage of GARBAGE) {
      await ledger.signal('ask', garbage);
      await ledger.signal('leave', garbage);
      await second.handle.signal('tenant', garbage);
    }
    // an answer to another request, and one to another run of the same id
    await second.handle.signal('tenant', { chain: 'x', n: 1, kind: 'granted' });
    await second.handle.signal('tenant', { chain: (await second.handle.describe()).runId, n: 7, kind: 'granted' });
    expect(await statusOf(on, 'acme')).toMatchObject({ runs: 1, waiting: [second.runId], limits: { maxRuns: 1 } });
    expect(await second.progress()).toMatchObject({ status: 'waiting' });
    await ledger.cancel();
    held.open();
    for (const run of [first, second]) expect(await run.result()).toMatchObject({ reason: 'completed' });
    for (const handle of [ledger, second.handle]) expect(await failedTasks(on.client, handle.workflowId)).toEqual([]);
  });

  it('that are no counters of a worker is refused', async () => {
    const on = await worker({ model: () => say('done') });
    const place = { client: on.client, taskQueue: on.taskQueue };
    const request: PlacesRequest = { worker: 'w', provider: 'fake', wanted: 1, granted: 0, finished: 0, limits: { callsAtOnce: 1 } };
    expect(await askProviderLedger(place, request)).toEqual({ granted: 1 });
    const ledger = on.client.workflow.getHandle(ledgerId('provider', on.taskQueue, 'fake'));
    for (const garbage of [...GARBAGE, { ...request, wanted: 'x' }, { ...request, bounds: { windowMs: 0 } }]) {
      await expect(ledger.executeUpdate('take', { args: [garbage] })).rejects.toThrow('Workflow Update failed');
    }
    expect(await ledger.query<ProviderStatus>('status')).toMatchObject({ callsAtOnce: 1, workers: 1 });
    // the same counters again change nothing, and older ones neither
    expect(await askProviderLedger(place, request)).toEqual({ granted: 1 });
    expect(await askProviderLedger(place, { ...request, granted: 1, finished: 1 })).toEqual({ granted: 0 });
    expect(await ledger.query<ProviderStatus>('status')).toMatchObject({ callsAtOnce: 0, workers: 0 });
    expect(await failedTasks(on.client, ledger.workflowId)).toEqual([]);
    await ledger.terminate();
  });
});
