import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import { useMcp } from '../../activities/mcp/support/mcp-kit.js';
import { call, say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.5');

const SERVER = fileURLToPath(new URL('../../activities/mcp/support/changing-server.mjs', import.meta.url));
const mcpServers = { door: { command: process.execPath, args: [SERVER] } };
const CALLS = ['unlock', 'secret', 'lock', 'plain'];

describe('record changed tools of an MCP server', () => {
  const { worker, start } = useWorkers();
  const { open } = useMcp();

  it('a tool that is added, called and taken away, over a continue-as-new', async () => {
    const on = await worker({
      identity: 'recorder',
      config: {
        model: 'fake/model',
        providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
        agents: { default: { description: 'Uses the door.', prompt: 'Use the door.' } },
        mcpServers,
      },
      mcpTools: open({ servers: mcpServers }),
      model: ({ messages }) => {
        const name = CALLS[messages.filter(({ role }) => role === 'assistant').length];
        return name === undefined ? say('done') : call([`door_${name}`, {}]);
      },
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    const { runId: first } = await run.handle.describe();
    await run.result();
    await write('tools-changed-1', await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    await write('tools-changed-2', await run.handle.fetchHistory());
  });
});
