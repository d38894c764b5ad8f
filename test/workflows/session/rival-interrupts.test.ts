import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { openRivals } from './support/rivals.js';
import { useSessions } from './support/sessions.js';

describe('several messages that interrupt', { timeout: 60_000 }, () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('the newest one is answered first, and no run of a newer one is cancelled by an older one', async () => {
    const { session } = await openRivals({ worker, open, answer: ({ messages }) => say(`answer to ${messages.map(textOf).at(-1)}`) });
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
