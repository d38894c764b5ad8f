import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CallSignal } from '../../../src/activities/runtime/call-signal.js';

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

  it('a released one follows nothing any more', () => {
    const source = new AbortController();
    const limit = new CallSignal([source.signal], LONG_MS);
    limit.release();
    source.abort();
    expect(limit.signal.aborted).toBe(false);
  });
});
