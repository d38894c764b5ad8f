import { describe, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { call, say } from '../../support/agent-worker.js';
import { agentOf, cast, castConfig } from '../../support/subagents/cast.js';
import { latch, testRun, until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save, write } = historySaver('0.5');

const config = castConfig({ lead: { subagents: ['scout'] }, scout: {} });

const scouts = (count: number) =>
  call(...Array.from({ length: count }, (_, n) => ['delegate', { agent: 'scout', task: `look ${n}` }] as const));

describe('record runs with sub-agents', () => {
  const { worker, start } = useWorkers();

  it('two sub-agents at once, with a pause, and a cancel while one works', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      config,
      model: async (request) => {
        const isScout = agentOf(request) === 'scout';
        if (isScout) await held.opened;
        return isScout || request.messages.length > 2 ? say('seen') : scouts(2);
      },
    });
    const run = await start(on, { agent: 'lead', maxTokens: 100_000 });
    await until(() => on.requests.length === 3, 'both scouts');
    await run.handle.signal('pause');
    await until(async () => (await run.progress()).subagents?.length === 2, 'the sub-agents');
    await run.handle.signal('resume');
    const cancelled = await start(on, { agent: 'lead' });
    await until(() => on.requests.length === 6, 'the scouts of the second run');
    await cancelled.handle.signal('cancel');
    held.open();
    await save('delegated', run);
    await save('delegated-cancelled', cancelled);
  });

  it('a parent that continues as new while its sub-agent works', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      config,
      model: async (request) => {
        const { messages } = request;
        const isScout = agentOf(request) === 'scout';
        if (isScout && messages.length < 3) await held.opened;
        if (isScout) return messages.length < 3 ? call(['nothing', {}]) : say('seen');
        return messages.length > 2 ? say('done') : scouts(1);
      },
    });
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    await until(() => on.requests.length === 2, 'the scout');
    const { runId: first } = await run.handle.describe();
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the next history');
    const child = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`));
    const { runId: childFirst } = await child.handle.describe();
    held.open();
    await run.result();
    await write('delegated-continued-1', await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    await write('delegated-continued-2', await run.handle.fetchHistory());
    await write('delegated-child-1', await on.client.workflow.getHandle(child.runId, childFirst).fetchHistory());
  });

  it('a parent that continues as new twice, and then its sub-agent, which has one too', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      config: castConfig({
        lead: { subagents: { agents: ['middle'], depth: 2 } },
        middle: { subagents: { agents: ['scout'], depth: 1 } },
        scout: {},
      }),
      model: cast({
        lead: (_, n) => (n === 1 ? call(['delegate', { agent: 'middle', task: 'look' }]) : say('done')),
        middle: (_, n) => (n === 1 ? scouts(1) : say('seen')),
        scout: async () => {
          await held.opened;
          return say('found');
        },
      }),
    });
    const lead = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    await until(() => on.requests.length === 3, 'the scout');
    const middle = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${lead.runId}/middle-1`));
    const ids: [string, string][] = [];
    for (const run of [lead, lead, middle]) {
      const { runId: before } = await run.handle.describe();
      ids.push([run.runId, before]);
      for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${ids.length}-${n}`, text: `message ${n}` });
      await until(async () => (await run.handle.describe()).runId !== before, 'the next history');
    }
    held.open();
    await lead.result();
    for (const [n, [runId, executionId]] of ids.entries()) {
      await write(`told-own-${n + 1}`, await on.client.workflow.getHandle(runId, executionId).fetchHistory());
    }
  });
});
