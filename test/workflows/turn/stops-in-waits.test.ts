import { describe, expect, it } from 'vitest';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { call, say } from '../../support/agent-worker.js';
import { longLook } from '../../support/tools/sample-tools.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

/** Asks for a tool that there is not; each time another one, so that nothing looks like a loop. */
const anotherTurn = (n: number) => call([`nothing_${n}`, {}]);

describe('a stop while something other than the model is waited for', () => {
  const { worker, start } = useWorkers();

  it('a deadline that comes while the completion gate is asked ends the run as a deadline, with a final answer', async () => {
    const on = await worker({
      model: (request) => say(request.toolChoice === 'none' ? 'the sum' : 'done'),
      completionGate: ({ signal }) => untilAborted(signal),
      policy: { completion: { custom: true } },
    });
    const run = await start(on, { deadlineMs: 2_000 });
    expect(await run.result()).toMatchObject({ reason: 'deadline', output: 'the sum', finalized: true });
  });

  it('a cancel that comes while the completion gate is asked ends the run as cancelled', async () => {
    const asked = latch();
    const on = await worker({
      model: () => say('done'),
      completionGate: ({ signal }) => {
        asked.open();
        return untilAborted(signal);
      },
      policy: { completion: { custom: true } },
    });
    const run = await start(on);
    await asked.opened;
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled', output: 'done' });
  });

  it.each(['before-run', 'after-run'] as const)('a cancel while the hooks %s are asked ends the run as cancelled', async (place) => {
    const asked = latch();
    const on = await worker({
      model: () => say('done'),
      hooks: [hangingHook(place, () => asked.open())],
      policy: {},
    });
    const run = await start(on);
    await asked.opened;
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: place === 'before-run' ? 0 : 1 });
    expect(on.requests).toHaveLength(place === 'before-run' ? 0 : 1);
  });

  it.each(['before-run', 'after-run'] as const)('the deadline stands still while the hooks %s are asked', async (place) => {
    const [asked, gate] = [latch(), latch()];
    const on = await worker({
      model: () => say('done'),
      hooks: [
        {
          name: 'slow',
          on: place,
          run: async () => {
            asked.open();
            await gate.opened;
            return { action: 'allow' };
          },
        },
      ],
      policy: {},
    });
    const run = await start(on, { deadlineMs: 3_000 });
    await asked.opened;
    const askedAt = Date.now();
    await until(() => Date.now() - askedAt > 4_000, 'more than the deadline');
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
  });

  it('an error that a hook rewrites at great length still ends the run', async () => {
    const on = await worker({
      model: () => {
        throw new Error('no such model');
      },
      hooks: [{ name: 'wordy', on: 'error', run: () => ({ action: 'modify', output: 'sorry '.repeat(30_000) }) }],
      policy: {},
    });
    const run = await start(on);
    await expect(run.result()).rejects.toThrow('Workflow execution failed');
    const result = await run.handle.query<RunResult>('result');
    expect(result.error?.message).toMatch(/^sorry /u);
    expect(result.error?.message.length).toBeLessThanOrEqual(PAYLOAD_LIMITS.failureMessageBytesMax);
  });

  it('a cancel in the middle of a compaction gives back the messages that no request has held', async () => {
    const on = await worker({
      model: (request, n) => (request.tools.length === 0 ? untilAborted(request.signal) : call(['look', { n }])),
      tools: [longLook],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: 16_000,
    });
    const run = await start(on, { maxTurns: 50 });
    await until(async () => {
      // one is always on its way, so that one waits when the compaction begins
      await run.handle.signal('steer', { text: `steer at ${on.requests.length}` });
      return on.requests.some(({ tools }) => tools.length === 0);
    }, 'the request for a summary');
    await run.handle.signal('cancel', {});
    const { steers = [], unconsumed, reason, turns } = await run.result();
    expect(reason).toBe('cancelled');
    const read = new Set(on.requests.flatMap(({ messages }) => messages.map(({ id }) => id)));
    const delivered = steers.filter(({ state }) => state === 'delivered');
    expect(delivered.filter(({ id }) => !read.has(id))).toEqual([]);
    expect(delivered.every(({ turn = 0 }) => turn <= turns)).toBe(true);
    expect(unconsumed.map(({ id }) => id)).toEqual(steers.filter(({ state }) => state === 'unconsumed').map(({ id }) => id));
  });

  it('a cancel while a spent budget is asked about gives back the messages that nobody read', async () => {
    const on = await worker({ model: (_, n) => anotherTurn(n), policy: { onBudget: 'ask' } });
    const run = await start(on, { maxTurns: 1 });
    await budgetAsked(run);
    await run.handle.signal('steer', { id: 's', text: 'one more thing' });
    await until(async () => (await run.progress()).inbox === 1, 'the message');
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({
      reason: 'cancelled',
      unconsumed: [{ id: 's', text: 'one more thing' }],
      steers: [{ id: 's', state: 'unconsumed' }],
    });
  });

  it('a deadline that is asked about is still asked about in a fresh history, and no turn is taken before the answer', async () => {
    const on = await worker({
      model: (request, n) => {
        if (request.toolChoice === 'none') return say('the sum');
        return n === 1 ? untilAborted(request.signal) : anotherTurn(n);
      },
      policy: { onBudget: 'ask' },
    });
    const run = await start(on, { deadlineMs: 5_000, bounds: { continueAsNewEvents: 25 } });
    await budgetAsked(run);
    const first = (await run.handle.describe()).runId;
    for (let n = 0; n < 15; n += 1) await run.handle.signal('steer', { id: `s${n}`, text: `steer ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    await budgetAsked(run);
    expect(await run.progress()).toMatchObject({ turn: 1, inbox: 15 });
    await run.handle.executeUpdate('deny', { args: [{ callId: 'budget' }] });
    expect(await run.result()).toMatchObject({ reason: 'deadline', turns: 1, output: 'the sum', unconsumed: [] });
    expect((await run.events()).filter(({ type }) => type === 'budget.reached')).toHaveLength(1);
  });

  it('a hold outlives a deadline that is asked about: what was given more still waits for the conversation', async () => {
    const on = await worker({
      model: (request, n) => (n === 1 ? untilAborted(request.signal) : say('done')),
      policy: { onBudget: 'ask' },
    });
    const run = await start(on, { deadlineMs: 5_000 });
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('hold', { by: 'ann' });
    await budgetAsked(run);
    await run.handle.executeUpdate('extend', { args: [{ deadlineMs: 60_000 }] });
    await until(async () => (await run.progress()).waitingFor?.includes('held by ann') === true, 'the hold');
    expect(on.requests).toHaveLength(1);
    await run.handle.signal('release');
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
  });
});

function hangingHook(on: 'before-run' | 'after-run', asked: () => void) {
  return {
    name: 'hangs',
    on,
    run: ({ signal }: { signal: AbortSignal }) => {
      asked();
      return untilAborted(signal);
    },
  };
}

async function budgetAsked(run: TestRun): Promise<void> {
  const isAsked = async (): Promise<boolean> =>
    (await run.handle.query<ApprovalList>('approvals')).pending.length === 1 && (await run.progress()).status === 'waiting';
  await until(isAsked, 'the question');
}
