import { randomUUID } from 'node:crypto';
import { it } from 'vitest';
import { sessionId } from '../../../src/contracts/handlers.js';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.6');

const { worker } = useWorkers();

it('record the message of a schedule to a session', async () => {
  const on = await worker({ identity: 'recorder', model: () => say('ok') });
  const key = `s-${randomUUID()}`;
  const handle = await on.client.workflow.start('scheduledMessage', {
    taskQueue: on.taskQueue,
    workflowId: 'daily-2030-01-31T08:00:00Z',
    args: [{ v: 1, session: { v: 1, key }, parts: [{ type: 'text', text: 'report' }] }],
  });
  await handle.result();
  await write('scheduled-message', await handle.fetchHistory());
  await on.client.workflow.getHandle(sessionId(key)).terminate();
});
