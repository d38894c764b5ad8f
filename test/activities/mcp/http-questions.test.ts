import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callTool, textOf } from './support/calls.js';
import { addressOf, useHttpServers } from './support/http-servers.js';
import { useMcp } from './support/mcp-kit.js';

/** The transport waits this long for what came before the end of an answer, and a while longer. */
const BETWEEN_MS = 400;

const QUESTION = {
  mode: 'form' as const,
  message: 'Where to?',
  requestedSchema: { type: 'object' as const, properties: { place: { type: 'string' as const } } },
};

const ask = () => Promise.resolve({ outcome: 'answered' as const, answer: 'place=Ohio' });

describe('an MCP server over HTTP that asks during a call', { timeout: 60_000 }, () => {
  const { open } = useMcp();
  const servers = useHttpServers();

  /** A server whose tool `ask` asks some times; with the number of its calls. */
  async function serve() {
    const calls = { begun: 0 };
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    const connect = async (): Promise<StreamableHTTPServerTransport> => {
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      const desk = new McpServer({ name: 'desk', version: '1.0.0' });
      desk.registerTool('ask', { inputSchema: { times: z.number() } }, async ({ times }, { sendRequest }) => {
        calls.begun += 1;
        for (let nth = 1; nth <= times; nth += 1) {
          await sendRequest({ method: 'elicitation/create', params: QUESTION }, ElicitResultSchema);
          await delay(BETWEEN_MS);
        }
        return { content: [{ type: 'text', text: `asked ${times} times` }] };
      });
      await desk.connect(transport);
      return transport;
    };
    const server = createServer((request, response) => {
      const known = sessions.get(String(request.headers['mcp-session-id']));
      void (known ? Promise.resolve(known) : connect()).then((transport) => transport.handleRequest(request, response));
    }).listen(0, '127.0.0.1');
    servers.push(server);
    return { url: await addressOf(server), calls };
  }

  it('gets as many answers as it asks questions, and the call is made once', async () => {
    const { url, calls } = await serve();
    const tools = open({ servers: { web: { url, elicitation: true } } });
    // the ids of its questions begin at 0, as those of our requests do: one of them is that of the call
    expect(textOf(await callTool(tools, 'web_ask', { times: 4 }, { ask }))).toBe('asked 4 times');
    expect(calls.begun).toBe(1);
  });
});
