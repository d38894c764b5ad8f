import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { TOOL_LIMITS } from '../../../src/contracts/constants/limits.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { replayHistory } from '../../support/test-worker.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

const SHORT_MS = TOOL_LIMITS.localTimeoutMsMax;

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  timeoutMs: SHORT_MS,
  execute: ({ n }) => `saw ${n}`,
});

const lookLong = defineTool({ ...look, name: 'look_long', timeoutMs: SHORT_MS + 1 });
const write = defineTool({ ...look, name: 'write', effect: 'idempotent' });

describe('local read tools', () => {
  const { worker, start } = useWorkers();

  it('short `read` tools run in the workflow task, all others in a task of their own, and the history replays', async () => {
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['look', { n: 1 }], ['look', { n: 2 }], ['look_long', { n: 3 }], ['write', { n: 4 }]) : say('done')),
      tools: [look, lookLong, write],
      policy: { localReadTools: true },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', toolCalls: 4 });
    expect(await scheduled(run)).toEqual(['look_long', 'write']);
    expect(await markers(run)).toBe(2);
    const results = (await run.messages()).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result'));
    expect(results.map(({ parts }) => parts)).toEqual([1, 2, 3, 4].map((n) => [{ type: 'text', text: `saw ${n}` }]));
    const history = await run.handle.fetchHistory();
    await expect(replayHistory(inject('workflowBundlePath'), history, run.runId)).resolves.toBeUndefined();
  });

  it('by default each call has a task of its own', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('done')), tools: [look], policy: {} });
    const run = await start(on);
    await run.result();
    expect(await scheduled(run)).toEqual(['look']);
    expect(await markers(run)).toBe(0);
  });

  it('a local tool that fails is a failed result for the model', async () => {
    const broken = defineTool({ ...look, execute: () => Promise.reject(new Error('no eyes')) });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('done')),
      tools: [broken],
      policy: { localReadTools: true },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(JSON.stringify(await run.messages())).toContain('no eyes');
  });

  it('a local call that exceeds its own time limit is answered, and not repeated', async () => {
    let starts = 0;
    const slow = defineTool({
      ...look,
      timeoutMs: 1_000,
      execute: (_, { signal }) => {
        starts += 1;
        return untilAborted(signal);
      },
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('done')),
      tools: [slow],
      policy: { localReadTools: true },
    });
    const run = await start(on);
    await until(() => starts === 1, 'the call');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(starts).toBe(1);
    expect(JSON.stringify(await run.messages())).toContain('timed out after 1s');
  });

  it('a worker that is shut down during a local call lets it end, and another worker goes on with its result', async () => {
    let starts = 0;
    const gate = latch();
    const held = defineTool({
      ...look,
      execute: async () => {
        starts += 1;
        await gate.opened;
        return 'seen to the end';
      },
    });
    const options = { tools: [held], policy: { localReadTools: true } };
    const on = await worker({ ...options, model: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('done')) });
    const run = await start(on);
    await until(() => starts === 1, 'the call');
    const ended = on.shutdown();
    gate.open();
    await ended;
    await worker({ ...options, taskQueue: on.taskQueue, model: () => say('done') });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(JSON.stringify(await run.messages())).toContain('seen to the end');
  });
});

/** The tools of the calls with an activity task, in order. */
async function scheduled(run: TestRun): Promise<string[]> {
  const { events } = await run.handle.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) => {
    if (activity?.activityType?.name !== 'callTool') return [];
    const [input] = activity.input?.payloads ?? [];
    const { tool }: { tool: string } = JSON.parse(Buffer.from(input?.data ?? []).toString());
    return [tool];
  });
}

async function markers(run: TestRun): Promise<number> {
  const { events } = await run.handle.fetchHistory();
  return (events ?? []).filter((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity').length;
}
