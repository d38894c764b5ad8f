import { ApplicationFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { call, say } from '../../support/agent-worker.js';
import { longLook, lookWith } from '../../support/tools/sample-tools.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';

describe('what a run keeps through its waits', () => {
  const { worker, start } = useWorkers();

  it('the clock runs again for a message that came after a reserved answer', async () => {
    const [asked, gate] = [latch(), latch()];
    const on = await worker({
      model: async (request, n) => {
        if (request.toolChoice === 'none') {
          if (n > 3) return say('in time');
          asked.open();
          await gate.opened;
          return say('an answer at last');
        }
        return n <= 2 ? say('') : untilAborted(request.signal);
      },
      policy: {},
    });
    const run = await start(on, { deadlineMs: 4_000 });
    await asked.opened;
    await run.handle.signal('steer', { id: 's', text: 'and this?' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'deadline', output: 'in time', unconsumed: [] });
  });

  it('a hook that ends the run ends it also when the rest of its batch was paused for too long', async () => {
    const [first, second] = [latch(), latch()];
    const ran: number[] = [];
    const look = lookWith(async ({ n }) => {
      ran.push(n);
      await [first, second][n - 1]?.opened;
      return `seen ${n}`;
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(...[1, 2, 3, 4].map((of) => ['look', { n: of }] as const)) : say('went on')),
      tools: [look],
      hooks: [
        {
          name: 'alarm',
          on: 'after-tool',
          run: ({ args }) => (JSON.stringify(args) === '{"n":1}' ? { action: 'abort', reason: 'smoke' } : { action: 'allow' }),
        },
      ],
      policy: { readToolsParallelMax: 2 },
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 25 } });
    const firstExecution = (await run.handle.describe()).runId;
    await until(() => ran.length === 2, 'two calls');
    await run.handle.signal('pause');
    second.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    for (let n = 0; n < 20; n += 1) await run.handle.signal('hold', { ttlMs: 1_000 });
    first.open();
    await until(
      async () => (await run.messages()).length > 2 || (await run.handle.describe()).runId !== firstExecution,
      'the end of the call',
    );
    await run.handle.signal('resume').catch(() => undefined);
    await expect(run.result()).rejects.toThrow('Workflow execution failed');
    expect(await run.handle.query<RunResult>('result')).toMatchObject({ reason: 'error', error: { type: 'Hook.Aborted' } });
    expect(ran).toHaveLength(2);
  });

  it('a message in mode interrupt that comes while the transcript is compacted takes no turn away', async () => {
    const [asked, gate] = [latch(), latch()];
    const on = await worker({
      model: async (request, n) => {
        if (request.tools.length > 0) return n > 60 || request.messages.some(({ id }) => id === 's') ? say('done') : call(['look', { n }]);
        asked.open();
        await gate.opened;
        return say('## State\nlooked\n## Findings\nnone\n## Progress\nhalf\n## Remaining\nthe rest');
      },
      tools: [longLook],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: 16_000,
    });
    const run = await start(on, { maxTurns: 50 });
    await asked.opened;
    await run.handle.signal('steer', { id: 's', text: 'stop looking', mode: 'interrupt' });
    gate.open();
    const { turns, reason } = await run.result();
    expect(reason).toBe('completed');
    expect(turns).toBe(on.requests.filter(({ tools }) => tools.length > 0).length);
  });

  it('an answer whose transcript could not be read by the completion gate is asked about again', async () => {
    const asked = latch();
    let times = 0;
    const on = await worker({
      model: () => say('done'),
      completionGate: ({ signal }) => {
        times += 1;
        if (times > 1) return { accept: true };
        asked.open();
        return untilAborted(signal);
      },
      policy: { completion: { custom: true } },
    });
    const run = await start(on);
    await asked.opened;
    const { raw, runId } = await run.handle.describe();
    await on.client.activity.fail(
      { workflowId: run.runId, runId, activityId: raw.pendingActivities?.[0]?.activityId ?? '' },
      ApplicationFailure.create({ type: 'Transcript.Unavailable', nonRetryable: true, message: 'no answer in a minute' }),
    );
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
  });

  it('a pause right behind a resume is the same pause: no fresh history is begun for it', async () => {
    const gate = latch();
    const model = () => gate.opened.then(() => call(['nothing', {}]));
    const on = await worker({ model, policy: {} });
    const run = await start(on, { maxTurns: 1 });
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    const { runId } = await run.handle.describe();
    await on.shutdown();
    await run.handle.signal('resume');
    await run.handle.signal('pause');
    await run.handle.signal('steer', { id: 's', text: 'hello' });
    const next = await worker({ model: () => say('sum'), taskQueue: on.taskQueue, policy: {} });
    await until(async () => (await run.progress()).inbox === 1, 'the message');
    expect(await run.progress()).toMatchObject({ status: 'paused' });
    expect((await run.handle.describe()).runId).toBe(runId);
    await run.handle.signal('resume');
    await run.result();
    expect(next.requests).toHaveLength(1);
    expect(isPaired(await run.messages())).toBe(true);
  });
});
