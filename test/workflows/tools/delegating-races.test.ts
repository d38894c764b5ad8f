import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { latch, testRun, until, useWorkers } from '../../support/use-workers.js';

/** A lead that may delegate to a scout. */
const team = (lead: Partial<AgentDefinition> = {}): Config => ({
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: {
    lead: { description: 'The lead.', prompt: 'lead', subagents: ['scout'], ...lead },
    scout: { description: 'The scout.', prompt: 'scout' },
  },
});

const delegate = (task: string) => ['delegate', { agent: 'scout', task }] as const;
const isLead = ({ prompt }: ModelRequest): boolean => prompt.startsWith('lead');
const results = ({ messages }: ModelRequest): number =>
  messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result')).length;

describe('sub-agents at the same moment', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  it('no more than liveMax work at once, also when one answer asks for several', async () => {
    let live = 0;
    let most = 0;
    const on = await worker({
      config: team({ subagents: { agents: ['scout'], liveMax: 1 } }),
      model: async (request: ModelRequest): Promise<ModelAnswer> => {
        if (isLead(request)) return results(request) === 0 ? call(delegate('a'), delegate('b'), delegate('c')) : say('done');
        live += 1;
        most = Math.max(most, live);
        await delay(100);
        live -= 1;
        return say('found');
      },
    });
    const run = await start(on, { agent: 'lead' });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed' });
    expect(result.subagents).toHaveLength(3);
    expect(most).toBe(1);
  });

  it('one that continues as new together with its parent is not cancelled', async () => {
    const first = latch();
    let requests = 0;
    const on = await worker({
      config: team(),
      model: async (request: ModelRequest): Promise<ModelAnswer> => {
        if (isLead(request)) return results(request) === 0 ? call(delegate('a')) : say('done');
        requests += 1;
        if (requests > 1) return say('found');
        await first.opened;
        return call(['nothing', {}]);
      },
    });
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    const child = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`));
    await until(async () => requests === 1, 'the first request of the scout');
    const { runId: parentFirst } = await run.handle.describe();
    await run.handle.signal('pause');
    await until(async () => (await child.handle.fetchHistory()).events?.some(isPause) === true, 'the pause to come');
    first.open();
    await until(async () => (await child.progress()).status === 'paused', 'the pause of the scout');
    // with the pause: one fewer than make it continue; the word of its parent is the last one
    for (let n = 0; n < 8; n += 1) await child.handle.signal('steer', { id: `c${n}`, text: `message ${n}` });
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` });
    await until(async () => (await run.handle.describe()).runId !== parentFirst, 'the next history of the parent');
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ output: 'done', subagents: [{ agent: 'scout', reason: 'completed' }] });
  });

  it('a worker that is found dead while it waits for a sub-agent is replaced, and the result comes', async () => {
    const held = latch();
    const on = await worker({
      config: team(),
      model: async (request: ModelRequest): Promise<ModelAnswer> => {
        if (isLead(request)) return results(request) === 0 ? call(delegate('a')) : say('done');
        await held.opened;
        return say('found');
      },
    });
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    await until(() => on.requests.length === 2, 'the request of the scout');
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` });
    const waiting = async () =>
      (await run.handle.describe()).raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'awaitRun');
    await until(async () => (await waiting()) !== undefined, 'the wait for the scout');
    const { workflowId } = run.handle;
    const { runId } = await run.handle.describe();
    const activityId = (await waiting())?.activityId ?? '';
    await on.client.activity.fail({ workflowId, runId, activityId }, ApplicationFailure.nonRetryable('killed', 'Worker.Died'));
    await until(async () => ((await waiting())?.activityId ?? activityId) !== activityId, 'another wait');
    held.open();
    expect(await run.result()).toMatchObject({ output: 'done', subagents: [{ reason: 'completed' }] });
    expect(await failedTasks(on.client, workflowId)).toEqual([]);
  });
});

function isPause({ workflowExecutionSignaledEventAttributes: signal }: SentEvent): boolean {
  return signal?.signalName === 'pause';
}

interface SentEvent {
  readonly workflowExecutionSignaledEventAttributes?: { readonly signalName?: string | null } | null;
}
