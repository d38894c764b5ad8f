import { describe, it } from 'vitest';
import type { Config } from '../../../src/define/define-config.js';
import { call, say } from '../../support/agent-worker.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.6');

const config: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { desk: { description: 'Waits.', prompt: 'wait', tools: ['sleep'] } },
  memory: { lastTurns: 2 },
};

describe('record runs that begin with turns of earlier runs', () => {
  const { worker, start } = useWorkers();

  it('a run with a turn of another one, over a continue-as-new', async () => {
    const on = await worker({
      identity: 'recorder',
      config,
      model: (_, n) => (n === 1 ? say('The first answer.') : n < 8 ? call(['sleep', { seconds: 1 }]) : say('done')),
    });
    const first = await start(on, { agent: 'desk', task: 'the first task' });
    await first.result();
    const listed = `WorkflowId = '${first.runId}' AND ExecutionStatus = 'Completed'`;
    await until(async () => (await on.client.workflow.count(listed)).count === 1, 'the run in the list');
    const run = await start(on, { agent: 'desk', task: 'the second task', bounds: { continueAsNewEvents: 20 } });
    const { runId } = await run.handle.describe();
    await run.result();
    await write('last-turns-1', await on.client.workflow.getHandle(run.runId, runId).fetchHistory());
    await write('last-turns-2', await run.handle.fetchHistory());
  });
});
