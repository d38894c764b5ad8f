import { describe, it } from 'vitest';
import { say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { useSessions } from '../session/support/sessions.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.6');

// `session-rivals-old` is of the code in which each waiting interrupt stopped the run of a newer one: this code records `session-rivals`
describe('record a session in which several messages interrupt', () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('session-rivals', async () => {
    const stopped = latch();
    const on = await worker({
      identity: 'recorder',
      model: async ({ signal }, call) => {
        if (call > 1)
          return await Promise.race([untilAborted(signal), new Promise((resolve) => setTimeout(resolve, 500))]).then(() => say('ok'));
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
    for (const id of ['m2', 'm3', 'm4']) await session.wait(id);
    const handle = on.client.workflow.getHandle(`session/${session.key}`);
    await handle.cancel();
    await handle.result().catch(() => undefined);
    await write('session-rivals', await handle.fetchHistory());
  });
});
