import { describe, expect, it } from 'vitest';
import { WORKER_LIMITS } from '../../../src/contracts/constants/limits.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { Receipt, SteerRecord } from '../../../src/contracts/schemas/run.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { call, say } from '../../support/agent-worker.js';
import { heldTool } from '../../support/tools/sample-tools.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { hasEvent, type StopSignal, stopAtFailure } from './support/stop-at-failure.js';

describe('steering a run', () => {
  const workers = useWorkers();
  const { worker, start } = workers;

  it('B-28: steers sent while a tool runs are in the next request, after the tool result, in the order sent', async () => {
    const gate = latch();
    const tool = heldTool(gate.opened);
    const on = await worker({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('ok')), tools: [tool] });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    await run.handle.signal('steer', { id: 'one', text: 'first' });
    await run.handle.signal('steer', { id: 'two', text: 'second' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    expect(roles(on.requests[1]?.messages ?? [])).toEqual(['user:do it', 'assistant:', 'tool:', 'user:first', 'user:second']);
  });

  it('the same id twice is one message, and the receipt says so', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('ok')), tools: [heldTool(gate.opened)] });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    const first = await run.handle.executeUpdate<Receipt, [object]>('submit', { args: [{ id: 'same', text: 'once' }] });
    const second = await run.handle.executeUpdate<Receipt, [object]>('submit', { args: [{ id: 'same', text: 'once' }] });
    expect(first).toEqual({ id: 'same', accepted: true, position: 0, duplicate: false });
    expect(second).toMatchObject({ accepted: true, duplicate: true });
    gate.open();
    await run.result();
    expect(roles(on.requests[1]?.messages ?? []).filter((text) => text === 'user:once')).toHaveLength(1);
  });

  it('U2: a steer that arrives with the final answer causes one more turn', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => say('early')) : say('late')) });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 's', text: 'wait' });
    gate.open();
    expect(await run.result()).toMatchObject({ output: 'late', turns: 2, unconsumed: [] });
  });

  it('a steer that comes during the reserved final call comes back unconsumed', async () => {
    const gate = latch();
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? gate.opened.then(() => say('end')) : call(['nothing', {}])),
    });
    const run = await start(on, { maxTurns: 1 });
    await until(async () => (await run.progress()).phase === 'finalising' && on.requests.length === 2, 'the final call');
    await run.handle.signal('steer', { id: 'late', text: 'too late' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'max_turns', unconsumed: [{ id: 'late', text: 'too late' }] });
  });

  it('C-11: with drain "one" each turn reads one of the messages that wait, in the order sent', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => gate.opened.then(() => say(`answer ${n}`)), policy: { drain: 'one' } });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    for (const id of ['one', 'two']) await run.handle.signal('steer', { id, text: `text of ${id}` });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 3, unconsumed: [] });
    expect(on.requests.map(({ messages }) => messages.filter(({ origin }) => origin === 'steer').map(({ id }) => id))).toEqual([
      [],
      ['one'],
      ['one', 'two'],
    ]);
    expect(await ends(run)).toEqual([
      { id: 'one', state: 'delivered', turn: 2 },
      { id: 'two', state: 'delivered', turn: 3 },
    ]);
  });

  it('C-11: with drain "all" both go into the same turn', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => gate.opened.then(() => say(`answer ${n}`)), policy: { drain: 'all' } });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    for (const id of ['one', 'two']) await run.handle.signal('steer', { id, text: `text of ${id}` });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, unconsumed: [] });
    expect(await ends(run)).toEqual([
      { id: 'one', state: 'delivered', turn: 2 },
      { id: 'two', state: 'delivered', turn: 2 },
    ]);
  });

  it('what became of each message is told while it waits and after the end, whatever was sent', async () => {
    const gate = latch();
    const on = await worker({
      model: (_, n) => (n === 1 ? gate.opened.then(() => call(['nothing', {}])) : say('ok')),
      policy: {},
    });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'first', text: 'stop that' });
    await run.handle.signal('steer', { id: 'click', text: 'stop that' });
    await run.handle.signal('steer', { id: 'none', text: '' });
    // last, because it must still be queued at the query
    await run.handle.signal('steer', { id: 'quick', text: 'only now', ttlMs: 3_000 });
    expect((await ends(run)).toSorted(byId)).toEqual([
      { id: 'click', state: 'merged', into: 'first' },
      { id: 'first', state: 'queued' },
      { id: 'quick', state: 'queued' },
      { id: 'refused#1', state: 'refused', reason: expect.stringContaining('EMPTY_MESSAGE') },
    ]);
    const queuedAt = Date.now();
    await until(() => Date.now() - queuedAt > 3_200, 'the end of its time');
    gate.open();
    const { steers = [], ...result } = await run.result();
    expect(result).toMatchObject({ reason: 'completed', turns: 2, unconsumed: [] });
    expect(await ends(run)).toEqual(steers);
    expect(steers.toSorted(byId)).toEqual([
      { id: 'click', state: 'merged', into: 'first' },
      { id: 'first', state: 'delivered', turn: 2 },
      { id: 'quick', state: 'expired' },
      { id: 'refused#1', state: 'refused', reason: expect.stringContaining('EMPTY_MESSAGE') },
    ]);
    expect(on.requests[1]?.messages.filter(({ origin }) => origin === 'steer').map(textOf)).toEqual(['stop that']);
    const told = (await run.events()).filter(({ type }) => type.startsWith('steer.')).map(({ type }) => type);
    expect(told).toEqual(['steer.accepted', 'steer.merged', 'steer.refused', 'steer.accepted', 'steer.expired', 'steer.delivered']);
  });

  it('a message sent again after it was read is a duplicate, and is not read twice', async () => {
    const [first, second] = [latch(), latch()];
    const on = await worker({ model: (_, n) => (n === 1 ? first.opened : second.opened).then(() => say(`answer ${n}`)), policy: {} });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'same', text: 'once' });
    first.open();
    await until(() => on.requests.length === 2, 'the second request');
    const again = await run.handle.executeUpdate<Receipt, [object]>('submit', { args: [{ id: 'same', text: 'once' }] });
    expect(again).toEqual({ id: 'same', accepted: true, position: -1, duplicate: true });
    second.open();
    expect(await run.result()).toMatchObject({ turns: 2 });
  });

  it('an interrupt aborts the running model call with its next heartbeat, keeps what it had said, and is read next', async () => {
    const on = await worker({
      model: (request, n) => {
        if (n > 1) return say('about the other thing');
        request.onDelta({ type: 'text', text: 'a long story about' });
        return untilAborted(request.signal);
      },
      policy: {},
    });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    const sentAt = Date.now();
    await run.handle.signal('steer', { id: 'now', text: 'another thing, please', mode: 'interrupt' });
    await until(() => on.requests.length === 2, 'the next request');
    // a heartbeat comes every 2 s; the rest is room for a busy machine
    expect(Date.now() - sentAt).toBeLessThan(WORKER_LIMITS.heartbeatThrottleMsMax + 8_000);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'about the other thing', unconsumed: [] });
    expect(on.requests[1]?.messages.slice(1).map((message) => [message.role, message.partial ?? false, textOf(message)])).toEqual([
      ['assistant', true, 'a long story about'],
      ['user', false, 'another thing, please'],
    ]);
    expect(await ends(run)).toEqual([{ id: 'now', state: 'delivered', turn: 2 }]);
  });

  it('an interrupt ends the wait for another attempt of the model call', async () => {
    const on = await worker({
      model: (_, n) => {
        if (n > 1) return say('another answer');
        throw new ModelError('Model.RateLimited', 'slow down', { retryAfterMs: 60_000 });
      },
      policy: {},
    });
    const run = await start(on);
    await until(async () => (await run.handle.describe()).raw.pendingActivities?.[0]?.attempt === 2, 'the wait for the second attempt');
    await run.handle.signal('steer', { id: 'now', text: 'never mind', mode: 'interrupt' });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'another answer', turns: 2 });
    expect(roles(on.requests[1]?.messages ?? [])).toEqual(['user:do it', 'user:never mind']);
  });

  it.each<[string, StopSignal, object]>([
    [
      'an interrupt is read',
      { name: 'steer', args: [{ id: 'now', text: 'never mind', mode: 'interrupt' }] },
      { reason: 'completed', output: 'another answer' },
    ],
    ['a cancel ends the run', { name: 'cancel', args: [{ reason: 'enough' }] }, { reason: 'cancelled' }],
  ])('%s that comes while a model call fails, before the call hears of it', async (_, stop, end) => {
    for (let attempt = 1; ; attempt += 1) {
      const run = await stopAtFailure(workers, stop);
      expect(await run.result()).toMatchObject(end);
      // a heartbeat may have told the call of its cancel
      if (await hasEvent(run, 'activityTaskFailedEventAttributes')) return;
      expect(attempt).toBeLessThan(20);
    }
  });

  it('a run that was prepared by 0.1 knows no modes: an interrupt is read at the boundary', async () => {
    const gate = latch();
    const on = await worker({
      model: (request, n) => (n === 1 ? Promise.race([gate.opened.then(() => say('finished')), untilAborted(request.signal)]) : say('ok')),
    });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'now', text: 'stop', mode: 'interrupt' });
    await until(async () => (await run.progress()).inbox === 1, 'the message');
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    expect(roles(on.requests[1]?.messages ?? [])).toEqual(['user:do it', 'assistant:', 'user:stop']);
    const { events } = await run.handle.fetchHistory();
    expect(events?.some((event) => event.activityTaskCancelRequestedEventAttributes)).toBe(false);
  });

  it('a preempt lets the running model call finish, and a boundary message waits for it too', async () => {
    const gate = latch();
    const on = await worker({
      model: (request, n) => (n === 1 ? Promise.race([gate.opened.then(() => say('finished')), untilAborted(request.signal)]) : say('ok')),
      policy: {},
    });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'a', text: 'soon', mode: 'boundary' });
    await run.handle.signal('steer', { id: 'b', text: 'sooner', mode: 'preempt' });
    await until(async () => (await run.progress()).inbox === 2, 'both messages');
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok', turns: 2 });
    expect(roles(on.requests[1]?.messages ?? [])).toEqual(['user:do it', 'assistant:', 'user:soon', 'user:sooner']);
  });

  it('C-10: a preempt while a call runs lets it finish, and skips the calls of the answer that were not started', async () => {
    const gate = latch();
    const tool = heldTool(gate.opened);
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['held', {}], ['held', {}], ['held', {}]) : say('ok')),
      tools: [tool],
      policy: {},
    });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    await run.handle.signal('steer', { id: 'now', text: 'something else', mode: 'preempt' });
    await until(async () => (await run.progress()).inbox === 1, 'the message');
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, unconsumed: [] });
    const messages = await run.messages();
    expect(isPaired(messages)).toBe(true);
    expect(roles(on.requests[1]?.messages ?? [])).toEqual(['user:do it', 'assistant:', 'tool:', 'tool:', 'tool:', 'user:something else']);
    const [first, ...skipped] = messages.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message));
    expect(first).toContain('released');
    for (const text of skipped) expect(text).not.toContain('released');
  });

  it('a message that comes during the reserved final call ends as unconsumed', async () => {
    const gate = latch();
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? gate.opened.then(() => say('end')) : call(['nothing', {}])),
      policy: {},
    });
    const run = await start(on, { maxTurns: 1 });
    await until(async () => (await run.progress()).phase === 'finalising' && on.requests.length === 2, 'the final call');
    await run.handle.signal('steer', { id: 'late', text: 'too late', mode: 'interrupt' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'max_turns', output: 'end', unconsumed: [{ id: 'late', text: 'too late' }] });
    expect(await ends(run)).toEqual([{ id: 'late', state: 'unconsumed' }]);
  });

  it('an update without text is refused and leaves no trace in history', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => say('ok')) });
    const run = await start(on);
    await expect(run.handle.executeUpdate('submit', { args: [{ text: '  ' }] })).rejects.toMatchObject({
      cause: { type: 'Input.Invalid' },
    });
    gate.open();
    expect(await run.result()).toMatchObject({ turns: 1 });
    const { events } = await run.handle.fetchHistory();
    expect(events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(false);
  });
});

function ends(run: TestRun): Promise<readonly SteerRecord[]> {
  return run.handle.query<readonly SteerRecord[]>('steers');
}

function byId(a: SteerRecord, b: SteerRecord): number {
  return a.id < b.id ? -1 : 1;
}

function roles(messages: readonly Message[]): string[] {
  return messages.map((message) => `${message.role}:${message.role === 'user' ? textOf(message) : ''}`);
}
