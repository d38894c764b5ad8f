import { describe, expect, it } from 'vitest';
import { call, say } from '../../support/agent-worker.js';
import { latch, type TestRun, until, useWorkers } from '../../support/use-workers.js';

describe('a live conversation that holds a run', () => {
  const { worker, start } = useWorkers();

  /** A run that is held by ann before its first turn ends. */
  async function runToHold(hold: object, input: object = {}) {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => call(['nothing', {}])) : say('ok')), policy: {} });
    const run = await start(on, input);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('hold', hold);
    gate.open();
    return { on, run };
  }

  /** A run that stands between its first and its second turn, held by ann. */
  async function heldRun(hold: object = { by: 'ann' }, input: object = {}) {
    const held = await runToHold(hold, input);
    await until(async () => (await held.run.progress()).status === 'waiting', 'the wait');
    return held;
  }

  it('B-29: the next turn waits while the run is held, says for whom, and goes on when it is released', async () => {
    const { on, run } = await heldRun();
    expect(await run.progress()).toMatchObject({
      turn: 1,
      waitingFor: expect.stringMatching(/^release \(held by ann until \d{4}-.*Z\)$/u),
    });
    expect(on.requests).toHaveLength(1);
    await run.handle.signal('steer', { id: 's', text: 'meanwhile' });
    await run.handle.signal('release');
    await run.handle.signal('release');
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, unconsumed: [] });
    expect(await heldEvents(run)).toEqual(['held', 'waiting', 'released: release']);
  });

  it('B-29: a hold that nobody releases lets go by itself, with one timer that says what it is', async () => {
    // it must last until the first turn ends
    const { run } = await runToHold({ ttlMs: 4_000 });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await heldEvents(run)).toEqual(['held', 'waiting', 'released: expired']);
    expect(await timers(run)).toBe(1);
  });

  it('B-29: acquiring twice is one hold: the second sets its end anew, without another timer', async () => {
    const { run } = await heldRun({ ttlMs: 60_000, by: 'ann' });
    for (let n = 0; n < 5; n += 1) await run.handle.signal('hold', { ttlMs: 120_000, by: `bob ${n}` });
    await until(async () => (await run.progress()).waitingFor?.includes('bob 4') === true, 'the new holder');
    expect(await timers(run)).toBe(1);
    await run.handle.signal('hold', { ttlMs: 1, by: 'ann' });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await heldEvents(run)).filter((event) => event.startsWith('released'))).toEqual(['released: expired']);
  });

  it('B-29: a cancel during the wait ends the run at once', async () => {
    const { on, run } = await heldRun();
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: 1 });
    expect(on.requests).toHaveLength(1);
    expect(await heldEvents(run)).toEqual(['held', 'waiting', 'released: stopped']);
    expect((await run.progress()).waitingFor).toBeUndefined();
  });

  it('a run that is held and paused goes on when both have ended, whichever ends first', async () => {
    for (const [first, last] of [
      ['release', 'resume'],
      ['resume', 'release'],
    ] as const) {
      const { on, run } = await heldRun();
      await run.handle.signal('pause');
      await until(async () => (await run.progress()).status === 'paused', 'the pause');
      await run.handle.signal(first);
      await run.handle.signal('steer', { id: 's', text: 'still there?' });
      await until(async () => (await run.progress()).inbox === 1, 'the message');
      expect(await run.progress()).toMatchObject({ status: first === 'release' ? 'paused' : 'waiting' });
      expect(on.requests).toHaveLength(1);
      await run.handle.signal(last);
      expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    }
  });

  it('the deadline stands still while the run is held', async () => {
    const { run } = await heldRun({ by: 'ann' }, { deadlineMs: 4_000 });
    const heldAt = Date.now();
    await until(() => Date.now() - heldAt > 5_000, 'more than the deadline');
    expect(await run.progress()).toMatchObject({ status: 'waiting' });
    await run.handle.signal('release');
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
  });

  it('a hold that outlasts its history is carried into a fresh one', async () => {
    const { on, run } = await heldRun({ by: 'ann' }, { bounds: { continueAsNewEvents: 40 } });
    const first = (await run.handle.describe()).runId;
    for (let n = 0; n < 20; n += 1) await run.handle.signal('hold', { by: 'ann', ttlMs: 600_000 });
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    expect(await run.progress()).toMatchObject({ turn: 1, waitingFor: expect.stringContaining('held by ann') });
    expect(on.requests).toHaveLength(1);
    await run.handle.signal('release');
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
  });

  it('a hold that ended while a call ran keeps nothing back', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => call(['nothing', {}])) : say('ok')), policy: {} });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('release');
    await run.handle.signal('hold');
    await run.handle.signal('release');
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await heldEvents(run)).toEqual(['held', 'released: release']);
    expect(await timers(run)).toBe(0);
  });
});

async function heldEvents(run: TestRun): Promise<string[]> {
  return (await run.events()).flatMap((event) => {
    if (event.type === 'released') return `released: ${event.why}`;
    return event.type === 'held' || event.type === 'waiting' ? event.type : [];
  });
}

async function timers(run: TestRun): Promise<number> {
  const { events } = await run.handle.fetchHistory();
  return (events ?? []).filter((event) => event.timerStartedEventAttributes).length;
}
