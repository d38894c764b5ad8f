import { describe, expect, it } from 'vitest';
import { watchSession } from '../../../src/client/sessions/watch-session.js';
import type { WatchItem } from '../../../src/client/watch/watch-run.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import type { SessionState } from '../../../src/contracts/schemas/session.js';

const EMPTY: SessionState = { key: 'k', queued: [], runs: [], dropped: [] };
const OPEN: SessionState = { ...EMPTY, active: 'k/1', runs: [{ runId: 'k/1', messageIds: ['m1'] }] };
const ENDED: SessionState = { ...EMPTY, runs: [{ runId: 'k/1', messageIds: ['m1'], reason: 'completed' }] };

/** The runs that a watch shows up to the first one. Each look at the session and at a run takes the next answer. */
async function shownFirst(states: readonly (SessionState | PerdureError)[], isThere: readonly boolean[]): Promise<string | undefined> {
  const [looks, runs] = [[...states], [...isThere]];
  const state = async (): Promise<SessionState> => {
    const next = looks.length > 1 ? looks.shift() : looks[0];
    if (next instanceof Error) throw next;
    return await Promise.resolve(next ?? EMPTY);
  };
  async function* watch(runId: string): AsyncGenerator<WatchItem> {
    if (runs.shift() === false) throw new PerdureError('RUN_NOT_FOUND', `no run ${runId}`, 3);
    // only its run matters
    yield await Promise.resolve({ type: 'event' } as unknown as WatchItem);
  }
  for await (const { runId } of watchSession({ state, watch }, {})) return runId;
  return undefined;
}

describe('the watch of a session', () => {
  it('waits for a run whose start is on its way to the server', async () => {
    expect(await shownFirst([OPEN], [false, true])).toBe('k/1');
  });

  it('shows the first run of a session that began after the watch, also if it has ended by then', async () => {
    expect(await shownFirst([new PerdureError('NO_SESSION', 'no session k', 3), ENDED], [true])).toBe('k/1');
  });

  it('fails for a run that has ended and that the server does not have', async () => {
    await expect(shownFirst([new PerdureError('NO_SESSION', 'no session k', 3), ENDED], [false])).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });
});
