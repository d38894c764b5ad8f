import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ProviderRules } from '../../../src/activities/limits/provider-gate.js';
import { ledgerId } from '../../../src/contracts/handlers.js';
import type { PlacesRequest, ProviderBounds, ProviderLimits, ProviderStatus } from '../../../src/contracts/schemas/ledger.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ModelAnswer } from '../../../src/providers/contract/provider.js';
import { askProviderLedger } from '../../../src/worker/hosting/ask-provider-ledger.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { candidate } from '../../support/model-route.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';
import { words } from '../policies/support/transcripts.js';
import { replay } from './support/tenants.js';

/** A process that takes a place, says so, and holds it as long as it lives. */
const HOLDER = `
  import { Client, Connection } from '@temporalio/client';
  import { ProviderGates } from '${new URL('../../../dist/activities/limits/provider-gate.js', import.meta.url).href}';
  import { askProviderLedger } from '${new URL('../../../dist/worker/hosting/ask-provider-ledger.js', import.meta.url).href}';
  const [address, taskQueue] = process.argv.slice(1);
  const client = new Client({ connection: await Connection.connect({ address }) });
  const rules = { limitsOf: () => ({ callsAtOnce: 1 }), ask: askProviderLedger, bounds: { leaseMs: 6000 } };
  await new ProviderGates(rules).enter('fake/model', { at: () => ({ client, taskQueue }), signal: new AbortController().signal });
  console.log('held');
  setInterval(() => undefined, 1000);
`;

/** About 500 tokens a result. */
const look = defineTool({
  name: 'look',
  description: 'Reads a part.',
  parameters: z.object({ part: z.number() }),
  effect: 'read',
  execute: ({ part }) => `part ${part} of the parts ${words(2_000)}`,
});

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
    const bounds = { leaseMs: 6_000 };
    expect(await askProviderLedger(place, { ...gone, bounds })).toEqual({ granted: 1 });
    const leave = repeated(async () => await askProviderLedger(place, { ...gone, granted: 1, bounds }));
    const [waits, cancelled] = [await start(on), await start(on)];
    await until(async () => (await phaseOf(cancelled)) === 'waiting for provider fake: 1 calls at once', 'the heartbeat');
    await cancelled.handle.signal('cancel');
    expect(await cancelled.result()).toMatchObject({ reason: 'cancelled', usage: { inputTokens: 0 } });
    expect(fake.calls).toEqual([]);
    await leave();
    expect(await waits.result()).toMatchObject({ reason: 'completed' });
    // the wait is no part of the time that the model has
    const { events } = await waits.handle.fetchHistory();
    const scheduled = events?.find(({ activityTaskScheduledEventAttributes: a }) => a?.activityType?.name === 'callModel');
    expect(Number(scheduled?.activityTaskScheduledEventAttributes?.startToCloseTimeout?.seconds)).toBe(35 * 60);
    await ledgerOf(on).terminate();
  });

  it('summaries take places like all calls, and give them back', async () => {
    const fake = fakeServer(20);
    const kinds = new Set<string>();
    const parts = 14;
    const on = await worker({
      model: async (request) => {
        await fake.answer();
        kinds.add(request.tools.length === 0 ? 'summary' : 'answer');
        if (request.tools.length === 0) return say('## State\nparts are read\n## Findings\nnone\n## Progress\nhalf\n## Remaining\nrest');
        const seen = [...JSON.stringify(request.messages).matchAll(/"part":(\d+)|part (\d+) of/gu)].map(([, a, b]) => Number(a ?? b));
        const next = Math.max(0, ...seen) + 1;
        return next > parts ? say('read') : call(['look', { part: next }]);
      },
      tools: [look],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      providers: rules({ callsAtOnce: 1 }, { idleMs: 300, leaseMs: 4_000 }),
      contextWindow: 8_000,
      route: [candidate('fake/model', { limited: true, contextWindow: 8_000 })],
    });
    const runs = [await start(on, { maxTurns: 40 }), await start(on, { maxTurns: 40 })];
    for (const run of runs) expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    expect(kinds).toEqual(new Set(['answer', 'summary']));
    expect(fake.most).toBe(1);
    // with a place that is not given back, the ledger would not end
    await until(async () => (await ledgerOf(on).describe()).status.name === 'COMPLETED', 'the end of the ledger');
  });

  it('a process that is killed while it holds a place loses it after its lease', async () => {
    const fake = fakeServer(1);
    const on = await worker({ model: fake.answer, providers: rules({ callsAtOnce: 1 }, { leaseMs: 6_000 }), route: ROUTE });
    const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, inject('temporalAddress'), on.taskQueue], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    const waits = await start(on);
    await until(async () => (await phaseOf(waits)) === 'waiting for provider fake: 1 calls at once', 'the heartbeat');
    expect(fake.calls).toEqual([]);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(await waits.result()).toMatchObject({ reason: 'completed' });
    await ledgerOf(on).terminate();
  });

  it('no more calls begin within a minute than the limit', async () => {
    const windowMs = 5_500;
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

/** Renews a lease every second until the test calls the result, so that the lease cannot end before what the test looks at. */
function repeated(renew: () => Promise<unknown>): () => Promise<void> {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const renewals = async (): Promise<void> => {
    while (!end.signal.aborted) {
      // one that fails is followed by the next in time
      await Promise.allSettled([renew()]);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  };
  const ended = renewals();
  return async () => {
    end.abort();
    await ended;
  };
}

/** The phase in the last heartbeat of a run's call. */
async function phaseOf({ handle }: TestRun): Promise<unknown> {
  const { pendingActivities } = (await handle.describe()).raw;
  const payload = pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
  return payload && defaultPayloadConverter.fromPayload<{ phase?: string }>(payload).phase;
}
