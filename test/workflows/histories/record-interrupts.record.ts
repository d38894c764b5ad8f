import { setTimeout as delay } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { say } from '../../support/agent-worker.js';
import { untilAborted, useWorkers } from '../../support/use-workers.js';
import { type StopSignal, stopAtFailure } from '../handlers/support/stop-at-failure.js';
import { openRivals } from '../session/support/rivals.js';
import { useSessions } from '../session/support/sessions.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.6');
const { save } = historySaver('0.5');

// `session-rivals-old` is of the code in which each waiting interrupt stopped the run of a newer one: this code records `session-rivals`
describe('record a session in which several messages interrupt', () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('session-rivals', async () => {
    const { on, session } = await openRivals({
      worker,
      open,
      answer: async ({ signal }) => {
        await Promise.race([untilAborted(signal), delay(500)]);
        return say('ok');
      },
    });
    for (const id of ['m2', 'm3', 'm4']) await session.wait(id);
    const handle = on.client.workflow.getHandle(`session/${session.key}`);
    await handle.cancel();
    await handle.result().catch(() => undefined);
    await write('session-rivals', await handle.fetchHistory());
  });
});

describe('record runs whose model call fails while its cancel is on the way', () => {
  const workers = useWorkers();

  it.each<[string, StopSignal]>([
    ['failed-at-interrupt', { name: 'steer', args: [{ id: 'm', text: 'stop', mode: 'interrupt' }] }],
    ['failed-at-cancel', { name: 'cancel', args: [{}] }],
  ])('%s', async (name, stop) => {
    await save(name, await stopAtFailure(workers, stop));
  });
});
