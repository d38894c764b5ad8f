import { describe, expect, it } from 'vitest';
import { PlainDisplay } from '../../../src/cli/display/plain-display.js';
import { Outage } from '../../../src/cli/follow/outage.js';
import { answerOf } from '../../../src/cli/host/session-answer.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { collectedOutput } from '../support/collected-output.js';
import { ended } from '../terminal/support/items.js';

const AWAY = new PerdureError('TEMPORAL_UNREACHABLE', 'no answer', 5);
const NO_WORKER = new PerdureError('NO_WORKER', 'no worker', 5);

/** A request with these outcomes, one after the other. */
function request(...outcomes: readonly (PerdureError | string)[]): () => Promise<string> {
  const left = [...outcomes];
  return () => {
    const next = left.shift() ?? 'no outcome is left';
    return typeof next === 'string' ? Promise.resolve(next) : Promise.reject(next);
  };
}

function outage(): { said: string[]; stop: AbortController; outage: Outage } {
  const said: string[] = [];
  const stop = new AbortController();
  return { said, stop, outage: new Outage({ say: (line) => void said.push(line) }, stop.signal) };
}

describe('a server that is not reachable', () => {
  it('is reported once, and the request is repeated until it is back; its worker may need a moment more', async () => {
    const { said, outage: given } = outage();
    expect(await given.through(request(AWAY, AWAY, NO_WORKER, 'back'))).toBe('back');
    expect(said).toEqual(['server not reachable, trying again']);
    await expect(given.through(request(NO_WORKER))).rejects.toBe(NO_WORKER);
    expect(await given.through(request(AWAY, 'again'))).toBe('again');
    expect(said).toHaveLength(2);
  });

  it('Ctrl-C ends the wait, also in the middle of a request', async () => {
    const { stop, outage: given } = outage();
    const waiting = given.through(() => new Promise<string>(() => undefined));
    stop.abort();
    expect(await waiting).toBeUndefined();
    expect(await given.through(request('not asked'))).toBeUndefined();
    const next = outage();
    const repeating = next.outage.through(() => Promise.reject(AWAY));
    await expect.poll(() => next.said).toHaveLength(1);
    next.stop.abort();
    expect(await repeating).toBeUndefined();
  });

  it('C-21: does not end a conversation: the answer is shown once it is back', async () => {
    const { output, texts } = collectedOutput();
    const state = { key: 'k', queued: [], dropped: [], runs: [{ runId: 'k/1', messageIds: ['m1'], reason: 'completed' }] };
    const outcomes = [AWAY, AWAY];
    const session = {
      key: 'k',
      query: () => {
        const problem = outcomes.shift();
        return problem ? Promise.reject(problem) : Promise.resolve(state);
      },
    };
    const run = {
      runId: 'k/1',
      async *watch() {
        yield ended('Hi.');
      },
      result: () => Promise.resolve({ output: 'Hi.' }),
    };
    const found = await answerOf(
      // all that the function asks of a client and a session
      { client: { get: () => run } as never, session: session as never, id: 'm1' },
      { display: new PlainDisplay(output), signal: new AbortController().signal, keys: undefined },
    );
    expect([found.result?.output, texts.stderr]).toEqual(['Hi.', 'server not reachable, trying again\n']);
  });
});
