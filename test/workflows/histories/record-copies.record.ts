import { ApplicationFailure } from '@temporalio/client';
import { describe, it } from 'vitest';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { useSessions } from '../session/support/sessions.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.6');

// `run-copy-lost` is of the code before the copy was repeated: this code records `run-copy-repeated`
describe('record a run that loses its worker while it copies the conversation', () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('run-copy-repeated', async () => {
    let copies = 0;
    const on = await worker({
      identity: 'recorder',
      model: () => say('ok'),
      beforeActivity: (name) => {
        if (name !== 'copyConversation') return undefined;
        copies += 1;
        if (copies > 1) return undefined;
        throw ApplicationFailure.create({ type: 'Worker.Died', nonRetryable: true, message: 'its process is gone' });
      },
    });
    const session = await open(on);
    for (let n = 1; n <= 21; n += 1) {
      await session.send({ id: `m${n}`, text: `m${n}` });
      await session.wait(`m${n}`);
    }
    await write('run-copy-repeated', await on.client.workflow.getHandle(`${session.key}/21`).fetchHistory());
  });
});
