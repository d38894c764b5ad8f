import { randomUUID } from 'node:crypto';
import { describe, it } from 'vitest';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import { call, say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save } = historySaver('0.5');

describe('record runs with background commands', () => {
  const { worker, start } = useWorkers();

  it('that end them at their end, also when the worker cannot', async () => {
    let asked = 0;
    const endRun = (): Promise<number> => {
      asked += 1;
      return asked > 1 ? Promise.reject(new Error('the disk is gone')) : Promise.resolve(1);
    };
    const on = await worker({
      identity: 'recorder',
      model: ({ messages }) => (messages.flatMap(toolCallsOf).length === 0 ? call(['start_command', { command: 'serve' }]) : say('done')),
      background: { endRun },
      policy: {},
    });
    await save('commands-ended', await start(on, { task: randomUUID() }));
    await save('commands-not-ended', await start(on, { task: randomUUID() }));
  });
});
