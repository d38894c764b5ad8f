import { setTimeout as delay } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
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
  const { worker, start } = useWorkers();

  it.each(['interrupt', 'cancel'])('failed-at-%s', async (stop) => {
    const stopped = latch();
    const on = await worker({
      model: async (_, n) => {
        if (n > 1) return say('ok');
        await stopped.opened;
        throw new ModelError('Model.RateLimited', 'slow down', { retryAfterMs: 60_000 });
      },
      policy: {},
    });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first attempt');
    await (stop === 'cancel' ? run.handle.signal('cancel', {}) : run.handle.signal('steer', { id: 'm', text: 'stop', mode: 'interrupt' }));
    await until(async () => {
      const { events } = await run.handle.fetchHistory();
      return events?.some((event) => event.activityTaskCancelRequestedEventAttributes) === true;
    }, 'the cancel of the call');
    stopped.open();
    await save(`failed-at-${stop}`, run);
  });
});
