import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import { say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { useSessions } from './support/sessions.js';

describe('several messages that interrupt', { timeout: 60_000 }, () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('the newest one is answered first, and no run of a newer one is cancelled by an older one', async () => {
    const stopped = latch();
    const on = await worker({
      model: async ({ signal, messages }, call) => {
        if (call > 1) return say(`answer to ${messages.map(textOf).at(-1)}`);
        // the first run takes its time to end
        await untilAborted(signal).catch(() => undefined);
        await stopped.opened;
        throw signal.reason;
      },
    });
    const session = await open(on, { queue: { mode: 'interrupt' } });
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    for (const id of ['m2', 'm3', 'm4']) await session.send({ id, text: id });
    stopped.open();
    await session.wait('m3');
    const { runs } = await session.query();
    expect(runs.map(({ messageIds, reason }) => [messageIds.join(), reason])).toEqual([
      ['m1', 'cancelled'],
      ['m4', 'completed'],
      ['m2', 'completed'],
      ['m3', 'completed'],
    ]);
  });
});
