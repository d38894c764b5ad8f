import { ApplicationFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { failure } from '../../../src/activities/runtime/failures.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

const unreachable = (): never => {
  throw new ModelError('Model.Unreachable', 'connection refused', { retryAfterMs: 500 });
};

/** Without further attempts of the call, so that the waits of the run get long soon. */
const unreachableForNow = (): never => {
  throw failure('Model.Unreachable', 'connection refused', { nonRetryable: true });
};

describe('what comes at the last moment', () => {
  const { worker, start } = useWorkers();

  it('a cancel while an unreachable model is waited for ends the wait at once', async () => {
    const on = await worker({ model: unreachableForNow });
    const run = await start(on);
    await longWait(run);
    const asked = on.requests.length;
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: 1 });
    expect(on.requests).toHaveLength(asked);
    expect((await run.progress()).waitingFor).toBeUndefined();
  });

  it('a pause while an unreachable model is waited for holds the next try back until resume', async () => {
    let isBack = false;
    const on = await worker({ model: () => (isBack ? say('back') : unreachableForNow()) });
    const run = await start(on);
    await longWait(run);
    await run.handle.signal('pause');
    isBack = true;
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    const asked = on.requests.length;
    await run.handle.signal('steer', { id: 's', text: 'still there?' });
    expect(on.requests).toHaveLength(asked);
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
  });

  it('a pause between two tries that outgrows its history goes on in a fresh one, in the same turn and with its warning', async () => {
    let isBack = false;
    const on = await worker({ model: () => (isBack ? say('back') : unreachable()) });
    const run = await start(on, { maxTurns: 2, bounds: { continueAsNewEvents: 60 } });
    await until(async () => (await run.progress()).waitingFor?.startsWith('model unreachable') === true, 'the wait');
    const first = (await run.handle.describe()).runId;
    await run.handle.signal('pause');
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    isBack = true;
    for (let n = 0; n < 60; n += 1) await run.handle.signal('pause');
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 1 });
    expect(on.requests.at(-1)?.messages.at(-1)).toMatchObject({ id: 'finalise-warning' });
  });

  it('U2: of a burst of messages with the final answer each that was acknowledged is read once, or comes back unread', async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `s${n}`);
    let sending: Promise<PromiseSettledResult<void>[]> | undefined;
    const on = await worker({
      model: async (_, n) => {
        if (!sending) {
          const sends = ids.map((id) => run.handle.signal('steer', { id, text: `text of ${id}` }));
          sending = Promise.allSettled(sends);
          // with the answer, so that they come into the very task that would end the run
          await Promise.any(sends);
        }
        return say(`answer ${n}`);
      },
      policy: {},
    });
    const run = await start(on);
    const { unconsumed, steers = [] } = await run.result();
    const sent = (await sending) ?? [];
    const acknowledged = ids.filter((_, index) => sent[index]?.status === 'fulfilled');
    const read =
      on.requests
        .at(-1)
        ?.messages.filter(({ origin }) => origin === 'steer')
        .map(({ id }) => id) ?? [];
    expect(acknowledged.length).toBeGreaterThan(0);
    expect([...read, ...unconsumed.map(({ id }) => id)].toSorted()).toEqual(acknowledged.toSorted());
    expect(steers.map(({ id, state }) => `${id} ${state}`).toSorted()).toEqual(
      [...read.map((id) => `${id} delivered`), ...unconsumed.map(({ id }) => `${id} unconsumed`)].toSorted(),
    );
  });

  it('a cancel during the reserved final call ends it, and the reason is cancelled', async () => {
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? untilAborted(request.signal) : call(['nothing', {}])),
    });
    const run = await start(on, { maxTurns: 1 });
    await until(() => on.requests.length === 2, 'the final call');
    await run.handle.signal('cancel', {});
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'cancelled', turns: 1 });
    expect(result).not.toHaveProperty('finalized');
  });

  it("Temporal's own cancellation during the reserved final call ends the workflow as Cancelled", async () => {
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? untilAborted(request.signal) : call(['nothing', {}])),
    });
    const run = await start(on, { maxTurns: 1 });
    await until(() => on.requests.length === 2, 'the final call');
    await run.handle.cancel();
    await expect(run.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });

  it('a deadline that comes during the reserved final call does not take the answer away', async () => {
    const gate = latch();
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? gate.opened.then(() => say('the sum')) : call(['nothing', {}])),
    });
    const run = await start(on, { maxTurns: 1, deadlineMs: 3_000 });
    const startedAt = Date.now();
    await until(() => on.requests.length === 2, 'the final call');
    await until(() => Date.now() - startedAt > 4_000, 'the deadline');
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'max_turns', output: 'the sum', finalized: true });
  });

  it('a final call after a deadline does not go on asking a model that cannot be reached', async () => {
    const on = await worker({ model: (request) => (request.toolChoice === 'none' ? unreachable() : untilAborted(request.signal)) });
    const run = await start(on, { deadlineMs: 1_000 });
    expect(await run.result()).toMatchObject({ reason: 'deadline', finalized: false });
    expect(on.requests.filter((request) => request.toolChoice === 'none')).toHaveLength(3);
  });

  it('a deadline in the middle of a pause waits until resume, for the clock stands still', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => call(['nothing', {}])) : say('ok')) });
    const run = await start(on, { deadlineMs: 5_000 });
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    const pausedAt = Date.now();
    await until(() => Date.now() - pausedAt > 6_000, 'more than the deadline');
    expect(await run.progress()).toMatchObject({ status: 'paused' });
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
  });

  it('extend raises a cap before it is reached, and is refused once the run gives its last answer', async () => {
    const [first, last] = [latch(), latch()];
    const on = await worker({
      model: async (request) => {
        const isLast = request.toolChoice === 'none';
        await (isLast ? last : first).opened;
        return isLast ? say('sum') : call(['nothing', {}]);
      },
    });
    const run = await start(on, { maxTurns: 1 });
    await until(() => on.requests.length === 1, 'the first request');
    expect(await run.handle.executeUpdate('extend', { args: [{ turns: 1 }] })).toMatchObject({ maxTurns: 2 });
    first.open();
    await until(async () => (await run.progress()).phase === 'finalising', 'the final call');
    await expect(run.handle.executeUpdate('extend', { args: [{ turns: 5 }] })).rejects.toMatchObject({
      cause: { type: 'Input.Invalid', message: expect.stringContaining('RUN_ENDING') },
    });
    last.open();
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns: 2 });
  });

  it('extend refuses what could not have an effect: a cap the run has not, nothing at all, a deadline beyond every limit', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => say('ok')) });
    const run = await start(on, { deadlineMs: 60_000 });
    await until(() => on.requests.length === 1, 'the request');
    const extend = (by: object): Promise<unknown> => run.handle.executeUpdate('extend', { args: [by] });
    const refusals: readonly (readonly [object, string])[] = [
      [{ tokens: 5 }, 'this run has no such limit'],
      [{}, 'give at least one of'],
      [{ deadlineMs: 1e300 }, 'deadlineMs'],
      [{ turns: 1.5 }, 'turns: integer above 0'],
      [{ turns: 10_000 }, 'the limit can be at most 10000'],
      [{ turn: 1 }, 'UNKNOWN_OPTION: turn'],
    ];
    for (const [by, why] of refusals) {
      await expect(extend(by)).rejects.toMatchObject({ cause: { type: 'Input.Invalid', message: expect.stringContaining(why) } });
    }
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
  });

  it('a call whose worker is lost while it is cancelled may have had effects, and says so; the next one was not started', async () => {
    const [started, ended] = [latch(), latch()];
    const act = defineTool({
      name: 'act',
      description: 'Acts, whatever it is told.',
      parameters: z.strictObject({}),
      effect: 'idempotent',
      execute: async () => {
        started.open();
        await ended.opened;
        return 'done';
      },
    });
    const on = await worker({ model: () => call(['act', {}], ['act', {}]), tools: [act] });
    const run = await start(on);
    await started.opened;
    await run.handle.signal('cancel', {});
    const isAskedToStop = async (): Promise<boolean> =>
      ((await run.handle.fetchHistory()).events ?? []).some((event) => event.activityTaskCancelRequestedEventAttributes);
    await until(isAskedToStop, 'the cancel at the call');
    const { raw, runId } = await run.handle.describe();
    await on.client.activity.fail(
      { workflowId: run.runId, runId, activityId: raw.pendingActivities?.[0]?.activityId ?? '' },
      ApplicationFailure.create({ type: 'Worker.Died', nonRetryable: true, message: 'its process is gone' }),
    );
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    ended.open();
    const messages = await run.messages();
    expect(isPaired(messages)).toBe(true);
    const [first, second] = messages.filter((message) => message.role === 'tool').map((message) => JSON.stringify(message));
    expect(first).toContain('it may have taken partial effect');
    expect(second).toContain('not started');
  });
});

/** Resolves in the third wait for the model or a later one: it lasts four seconds, so that a signal which is sent now meets it. */
async function longWait(run: TestRun): Promise<void> {
  const isLong = async (): Promise<boolean> => /^model unreachable, attempt (?:[3-9]|\d\d)/u.test((await run.progress()).waitingFor ?? '');
  await until(isLong, 'a long wait');
}
