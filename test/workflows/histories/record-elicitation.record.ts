import { describe, it } from 'vitest';
import type { Config } from '../../../src/define/define-config.js';
import { ASKING_SERVER } from '../../activities/mcp/support/asking-desk.js';
import { useMcp } from '../../activities/mcp/support/mcp-kit.js';
import { call, say } from '../../support/agent-worker.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { answer, pendingQuestions } from '../tools/support/pending-questions.js';
import { historySaver } from './save-history.js';

const { save } = historySaver('0.6');

const mcpServers = { desk: { command: process.execPath, args: [ASKING_SERVER], elicitation: true } };

const config: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { default: { description: 'Books.', prompt: 'Book.' } },
  mcpServers,
};

describe('record a run whose MCP server asks', () => {
  const { worker, start } = useWorkers();
  const { open } = useMcp();

  it('a question that is answered, one that a message ends, and a call that asks nothing', async () => {
    const calls = ['desk_look', 'desk_look', 'desk_late'] as const;
    const on = await worker({
      identity: 'recorder',
      config,
      mcpTools: open({ servers: mcpServers }),
      model: (_, n) => {
        const name = calls[n - 1];
        return name === undefined ? say('ok') : call([name, {}]);
      },
    });
    const run = await start(on, { deadlineMs: 600_000 });
    const [first] = await pendingQuestions(run, 1);
    await answer(run, { callId: first?.callId, answer: 'Ohio' });
    await until(async () => (await run.progress()).turn === 2, 'the second turn');
    await pendingQuestions(run, 1);
    await run.handle.signal('steer', { id: 'm1', text: 'never mind', mode: 'preempt' });
    await save('elicitation', run);
  });
});
