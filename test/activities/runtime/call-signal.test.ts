import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CallSignal, withinTime } from '../../../src/activities/runtime/call-signal.js';

const LONG_MS = 60_000;

describe('CallSignal', () => {
  it('is aborted with the reason of the first of its sources', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const limit = new CallSignal([one.signal, two.signal], LONG_MS);
    two.abort('two');
    one.abort('one');
    expect([limit.signal.aborted, limit.signal.reason, limit.timedOut]).toEqual([true, 'two', false]);
    limit.release();
  });

  it('a source that was aborted before counts too', () => {
    const limit = new CallSignal([new AbortController().signal, AbortSignal.abort('early')], LONG_MS);
    expect(limit.signal.reason).toBe('early');
    limit.release();
  });

  it('after its time limit it is aborted, as by AbortSignal.timeout', async () => {
    const limit = new CallSignal([], 1);
    // its own timer keeps no process alive
    await Promise.all([delay(5), new Promise((resolve) => limit.signal.addEventListener('abort', resolve))]);
    expect(limit.timedOut).toBe(true);
    expect(limit.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('its time limit stands still while it is held, also by several in turn, and goes on with the rest', async () => {
    const limit = new CallSignal([], 2_000);
    const first = limit.hold();
    await delay(2_100);
    const second = limit.hold();
    first();
    second();
    await delay(50);
    expect(limit.signal.aborted).toBe(false);
    // its own timer keeps no process alive
    await Promise.all([delay(2_100), new Promise((resolve) => limit.signal.addEventListener('abort', resolve))]);
    expect(limit.timedOut).toBe(true);
  });

  it('a released one sets no new time limit when it is no longer held', async () => {
    const limit = new CallSignal([], 20);
    const resume = limit.hold();
    limit.release();
    resume();
    await delay(60);
    expect(limit.signal.aborted).toBe(false);
  });

  it('a released one follows nothing any more', () => {
    const source = new AbortController();
    const limit = new CallSignal([source.signal], LONG_MS);
    limit.release();
    source.abort();
    expect(limit.signal.aborted).toBe(false);
  });
});

describe('withinTime', () => {
  it('is aborted with the reason of its source', () => {
    const source = new AbortController();
    const signal = withinTime([source.signal], LONG_MS);
    source.abort('stopped');
    expect(signal.reason).toBe('stopped');
  });

  it('is aborted after its time, also when the garbage was collected meanwhile', async () => {
    const signals = [withinTime([new AbortController().signal], 500), withinTime([withinTime([], LONG_MS)], 500)];
    // what was made in this turn of the event loop is not collected in it
    await delay(1);
    for (let n = 0; n < 5; n += 1) collectGarbage();
    await delay(1_000);
    expect(signals.map((signal) => String(signal.reason))).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(/^TimeoutError/u)),
    );
  });
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
