import { describe, it } from 'vitest';
import { ledgerId } from '../../../src/contracts/handlers.js';
import { askProviderLedger } from '../../../src/worker/hosting/ask-provider-ledger.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { candidate } from '../../support/model-route.js';
import { look } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { ledgerOf, rules } from '../ledgers/support/tenants.js';
import { historySaver } from './save-history.js';

const { save, fill, write } = historySaver('0.4');

describe('record runs that wait for their tenant, and the ledgers', () => {
  const { worker, start } = useWorkers();

  it('a run that waits for a place, in two histories, with its ledger', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      tenants: rules({ maxRuns: 1 }),
      policy: {},
      model: async () => {
        await held.opened;
        return say('done');
      },
    });
    const first = await start(on, { tenant: 'acme' });
    await until(async () => (await first.progress()).phase === 'model', 'the first run at work');
    const second = await start(on, { tenant: 'acme', bounds: { continueAsNewEvents: 20 } });
    await until(async () => (await second.progress()).status === 'waiting', 'the wait');
    await fill('tenant-place-1', on, second);
    const { runId } = await second.handle.describe();
    held.open();
    await second.result();
    await write('tenant-place-2', await on.client.workflow.getHandle(second.runId, runId).fetchHistory());
    await saveLedger(on, ledgerOf(on, 'acme').workflowId, 'tenant-ledger');
  });

  it('a run whose money of the day is spent, and one that is cancelled in the queue', async () => {
    const on = await worker({
      identity: 'recorder',
      tenants: rules({ maxCostUsdPerDay: 0.01 }, { dayMs: 4_000 }),
      policy: {},
      price: { input: 500, output: 1_000 },
      model: ({ messages }) => (messages.length < 3 ? call(['look', { n: 1 }]) : say('done')),
      tools: [look],
    });
    const run = await start(on, { tenant: 'acme' });
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    const cancelled = await start(on, { tenant: 'acme' });
    await until(async () => (await cancelled.progress()).status === 'waiting', 'the queue');
    await cancelled.handle.signal('cancel');
    await save('tenant-cancelled', cancelled);
    await save('tenant-money', run);
  });

  it('a provider with limits', async () => {
    const on = await worker({
      identity: 'recorder',
      providers: {
        limitsOf: () => ({ callsAtOnce: 1, callsPerMinute: 100 }),
        ask: askProviderLedger,
        bounds: { idleMs: 300, leaseMs: 2_000, windowMs: 2_000 },
      },
      route: [candidate('fake/model', { limited: true })],
      policy: {},
      model: () => say('done'),
    });
    const runs = [await start(on), await start(on)];
    for (const run of runs) await run.result();
    await saveLedger(on, ledgerId('provider', on.taskQueue, 'fake'), 'provider-ledger');
  });
});

async function saveLedger({ client }: AgentWorker, id: string, name: string): Promise<void> {
  const ledger = client.workflow.getHandle(id);
  await until(async () => (await ledger.describe()).status.name === 'COMPLETED', 'the end of the ledger');
  await write(name, await ledger.fetchHistory());
}
