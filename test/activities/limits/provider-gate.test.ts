import { describe, expect, it } from 'vitest';
import { ProviderGates, type WaitOptions } from '../../../src/activities/limits/provider-gate.js';
import type { PlacesAnswer, PlacesRequest } from '../../../src/contracts/schemas/ledger.js';
import { ProviderPlaces } from '../../../src/workflows/ledgers/provider-places.js';
import { until } from '../../support/use-workers.js';

// the gate passes it on to `ask`
const AT = (): ReturnType<WaitOptions['at']> => ({ taskQueue: 'q' }) as ReturnType<WaitOptions['at']>;

describe('the gate of a provider', () => {
  it('sends nothing for a provider without limits', async () => {
    const { gates, sent } = setUp(1);
    const leave = await gates.enter('other/model', { at: AT, signal: new AbortController().signal });
    leave();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sent).toEqual([]);
    expect(await new ProviderGates().enter('fake/m', { at: AT, signal: new AbortController().signal })).toBeTypeOf('function');
  });

  it('starts calls in their order, as places become free, and reports the last end', async () => {
    const { gates, sent, places } = setUp(2);
    const { signal } = new AbortController();
    const started: number[] = [];
    const leaves: (() => void)[] = [];
    const calls = [0, 1, 2, 3].map(async (n) => {
      leaves[n] = await gates.enter('fake/m', { at: AT, signal });
      started.push(n);
    });
    await until(() => started.length === 2, 'two calls');
    expect(places.status(0)).toMatchObject({ callsAtOnce: 2, waiting: 2 });
    leaves[1]?.();
    // the second end of one call frees no second place
    leaves[1]?.();
    await until(() => started.length === 3, 'the third call');
    leaves[0]?.();
    await Promise.all(calls);
    expect(started).toEqual([0, 1, 2, 3]);
    for (const leave of leaves) leave();
    await until(() => places.status(0).workers === 0, 'the last report');
    expect(sent.at(-1)).toMatchObject({ wanted: 4, granted: 4, finished: 4 });
  });

  it('gives the place of a call back that was cancelled while it waited', async () => {
    const { gates, places } = setUp(1);
    const abort = new AbortController();
    const leave = await gates.enter('fake/m', { at: AT, signal: new AbortController().signal });
    const waiting = gates.enter('fake/m', { at: AT, signal: abort.signal });
    await until(() => places.status(0).waiting === 1, 'the wait');
    abort.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    await expect(gates.enter('fake/m', { at: AT, signal: abort.signal })).rejects.toThrow('cancelled');
    leave();
    const last = await gates.enter('fake/m', { at: AT, signal: new AbortController().signal });
    last();
    await until(() => places.status(0).workers === 0, 'the last report');
  });

  it('sends its counters again when the ledger does not answer', async () => {
    const { gates, sent, fail } = setUp(1);
    fail.next = 2;
    const leave = await gates.enter('fake/m', { at: AT, signal: new AbortController().signal });
    leave();
    expect(sent.filter(({ wanted, finished }) => wanted === 1 && finished === 0)).toHaveLength(3);
  });
});

/** Gates with the state of the real ledger, which holds a request for a moment, and loses some. */
function setUp(callsAtOnce: number) {
  const places = ProviderPlaces.empty('fake');
  const sent: PlacesRequest[] = [];
  const fail = { next: 0 };
  const ask = async (_: unknown, request: PlacesRequest): Promise<PlacesAnswer> => {
    sent.push(request);
    if (fail.next > 0) {
      fail.next -= 1;
      throw new Error('no answer');
    }
    places.take(request, 0);
    places.advance(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { granted: places.grantedTo(request.worker), askAgainMs: 5 };
  };
  const gates = new ProviderGates({ limitsOf: (provider) => (provider === 'fake' ? { callsAtOnce } : undefined), ask });
  return { gates, sent, places, fail };
}
