import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { ProviderRules } from '../../../src/activities/limits/provider-gate.js';
import { ledgerId } from '../../../src/contracts/handlers.js';
import type { PlacesRequest, ProviderBounds, ProviderLimits, ProviderStatus } from '../../../src/contracts/schemas/ledger.js';
import type { ModelAnswer } from '../../../src/providers/contract/provider.js';
import { askProviderLedger } from '../../../src/worker/hosting/ask-provider-ledger.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { candidate } from '../../support/model-route.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';
import { replay } from './support/tenants.js';

const ROUTE = [candidate('fake/model', { limited: true })];

describe('limits of a provider', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  it('two workers together never have more calls at once than the limit, and the ledger continues as new, ends and replays', async () => {
    const taskQueue = `test-${randomUUID()}`;
    const fake = fakeServer(100);
    const providers = rules({ callsAtOnce: 2 }, { updatesMax: 8, idleMs: 300, leaseMs: 4_000 });
    const workers = [
      await worker({ taskQueue, model: fake.answer, providers, route: ROUTE }),
      await worker({ taskQueue, model: fake.answer, providers, route: ROUTE }),
    ] as const;
    const runs = await Promise.all(Array.from({ length: 20 }, () => start(workers[0])));
    for (const run of runs) expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(fake.most).toBe(2);
    expect(workers.every(({ requests }) => requests.length > 0)).toBe(true);
    const ledger = ledgerOf(workers[0]);
    await until(async () => (await ledger.describe()).status.name === 'COMPLETED', 'the end of the ledger');
    const [started] = (await ledger.fetchHistory()).events ?? [];
    expect(started?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('');
    await replay(ledger);
  });

  it('the places of a worker that is gone are free after its lease; a call that waits says so, and can be cancelled', async () => {
    const fake = fakeServer(10);
    const on = await worker({ model: fake.answer, providers: rules({ callsAtOnce: 1 }, { leaseMs: 6_000 }), route: ROUTE });
    const gone: PlacesRequest = { worker: 'gone', provider: 'fake', wanted: 1, granted: 0, finished: 0, limits: { callsAtOnce: 1 } };
    const place = { client: on.client, taskQueue: on.taskQueue };
    expect(await askProviderLedger(place, { ...gone, bounds: { leaseMs: 6_000 } })).toEqual({ granted: 1 });
    const [waits, cancelled] = [await start(on), await start(on)];
    await until(async () => (await phaseOf(cancelled)) === 'waiting for provider fake: 1 calls at once', 'the heartbeat');
    await cancelled.handle.signal('cancel');
    expect(await cancelled.result()).toMatchObject({ reason: 'cancelled', usage: { inputTokens: 0 } });
    expect(fake.calls).toEqual([]);
    expect(await waits.result()).toMatchObject({ reason: 'completed' });
    // the wait is no part of the time that the model has
    const { events } = await waits.handle.fetchHistory();
    const scheduled = events?.find(({ activityTaskScheduledEventAttributes: a }) => a?.activityType?.name === 'callModel');
    expect(Number(scheduled?.activityTaskScheduledEventAttributes?.startToCloseTimeout?.seconds)).toBe(35 * 60);
    await ledgerOf(on).terminate();
  });

  it('no more calls begin within a minute than the limit', async () => {
    const windowMs = 3_000;
    const fake = fakeServer(1);
    const on = await worker({ model: fake.answer, providers: rules({ callsPerMinute: 2 }, { windowMs }), route: ROUTE });
    const runs = await Promise.all(Array.from({ length: 5 }, () => start(on)));
    for (const run of runs) expect(await run.result()).toMatchObject({ reason: 'completed' });
    const begun = fake.calls.toSorted((a, b) => a - b);
    expect(begun).toHaveLength(5);
    // half a window of tolerance for a busy machine: the ledger gives, the call begins a little later
    for (const [index, at] of begun.entries()) expect((begun[index + 2] ?? Infinity) - at).toBeGreaterThan(windowMs / 2);
    await ledgerOf(on).terminate();
  });
});

function rules(limits: ProviderLimits, bounds: ProviderBounds): ProviderRules {
  return { limitsOf: (provider) => (provider === 'fake' ? limits : undefined), ask: askProviderLedger, bounds };
}

function ledgerOf(on: AgentWorker) {
  return on.client.workflow.getHandle<() => Promise<ProviderStatus>>(ledgerId('provider', on.taskQueue, 'fake'));
}

/** A server that counts its calls. */
function fakeServer(ms: number) {
  const server = {
    most: 0,
    now: 0,
    calls: [] as number[],
    answer: async (): Promise<ModelAnswer> => {
      server.calls.push(Date.now());
      server.now += 1;
      server.most = Math.max(server.most, server.now);
      await new Promise((resolve) => setTimeout(resolve, ms));
      server.now -= 1;
      return say('done');
    },
  };
  return server;
}

/** The phase in the last heartbeat of a run's call. */
async function phaseOf({ handle }: TestRun): Promise<unknown> {
  const { pendingActivities } = (await handle.describe()).raw;
  const payload = pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
  return payload && defaultPayloadConverter.fromPayload<{ phase?: string }>(payload).phase;
}
