import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { callTool, RUN, textOf } from './support/calls.js';
import { useHttpServers } from './support/http-servers.js';
import { useMcp } from './support/mcp-kit.js';

const SCHEMA = { type: 'object', properties: {} };
const TOOLS = [
  { name: 'look', inputSchema: SCHEMA, annotations: { readOnlyHint: true } },
  { name: 'act', inputSchema: SCHEMA },
];

/** How the next call of a tool is answered. */
type Fault = 'none' | 'cut' | 'cut-json' | 'half' | 'gone-session' | 'refused' | 'failed' | 'redirect' | 'flood';

describe('an MCP server over HTTP that fails', { timeout: 60_000 }, () => {
  const { open } = useMcp();
  const servers = useHttpServers();

  it('R3 answers 200 and cuts: a call that must not be repeated is unknown, a reading one is made once more', async () => {
    for (const fault of ['cut', 'half', 'cut-json'] as const) {
      const { url, calls } = await serve({ faults: [fault] });
      const tools = open({ servers: { web: { url } } });
      await expect(callTool(tools, 'web_act')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
      expect(calls).toEqual(['act']);
      const reading = await serve({ faults: [fault] });
      expect(textOf(await callTool(open({ servers: { web: { url: reading.url } } }), 'web_look'))).toBe('look done');
      expect(reading.calls).toEqual(['look', 'look']);
    }
  });

  it('fails with 500: a call that must not be repeated is unknown', async () => {
    const { url } = await serve({ faults: ['failed'] });
    await expect(callTool(open({ servers: { web: { url } } }), 'web_act')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
  });

  it('lost its sessions: the call, which it did not take, is made in a new one', async () => {
    const { url, calls, sessions } = await serve({ faults: ['gone-session'] });
    expect(textOf(await callTool(open({ servers: { web: { url } } }), 'web_act'))).toBe('act done');
    expect(calls).toEqual(['act', 'act']);
    expect(sessions()).toBe(2);
  });

  it('is down: nothing is sent, and the call says so; the next call waits and finds it', async () => {
    const { url, close, reopen } = await serve({ faults: [] });
    const tools = open({ servers: { web: { url } } });
    await callTool(tools, 'web_look');
    await close();
    await expect(callTool(tools, 'web_act')).rejects.toThrow(/fetch failed|ECONNREFUSED/u);
    await reopen();
    expect(textOf(await callTool(tools, 'web_act'))).toBe('act done');
  });

  it('refuses a token that was replaced: the new one is read', async () => {
    let token = 'old';
    const { url, tokens } = await serve({ faults: ['none', 'refused'] });
    const keys = { ...captureKeys({}), resolve: () => token, problem: () => undefined };
    const tools = open({ servers: { web: { url, token: 'env:WEB_TOKEN' } }, keys });
    await callTool(tools, 'web_look');
    token = 'new';
    expect(textOf(await callTool(tools, 'web_act'))).toBe('act done');
    expect([...new Set(tokens)]).toEqual(['Bearer old', 'Bearer new']);
  });

  it('sends the token to no other server', async () => {
    const other = await serve({ faults: [] });
    const { url } = await serve({ faults: ['redirect'], redirectTo: other.url });
    const keys = { ...captureKeys({}), resolve: () => 'secret', problem: () => undefined };
    await expect(callTool(open({ servers: { web: { url, token: 'env:WEB_TOKEN' } }, keys }), 'web_act')).rejects.toThrow('redirect');
    expect(other.tokens).toEqual([]);
  });

  it('floods: an answer of 40 MB is cut, and the next call works', async () => {
    const { url } = await serve({ faults: ['flood'] });
    const tools = open({ servers: { web: { url } } });
    await expect(callTool(tools, 'web_act')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
    expect(textOf(await callTool(tools, 'web_look'))).toBe('look done');
  });

  it('an address without a server is a notice of the run', async () => {
    const { url, close } = await serve({ faults: [] });
    await close();
    const { notices } = await open({ servers: { web: { url } } }).offer(['web'], RUN);
    expect(notices).toEqual([expect.stringMatching(/^MCP server web cannot be used: .*fetch failed/u)]);
  });

  interface Served {
    readonly url: string;
    readonly calls: string[];
    readonly tokens: string[];
    readonly sessions: () => number;
    readonly close: () => Promise<void>;
    readonly reopen: () => Promise<void>;
  }

  async function serve({ faults, redirectTo = '' }: { readonly faults: readonly Fault[]; readonly redirectTo?: string }): Promise<Served> {
    const calls: string[] = [];
    const tokens: string[] = [];
    let sessions = 0;
    const left = [...faults];
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { id, method, params } = await bodyOf(request);
      const token = request.headers.authorization;
      if (token !== undefined) tokens.push(token);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'initialize') {
        sessions += 1;
        const result = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } };
        return void response
          .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${sessions}` })
          .end(reply(id, result));
      }
      if (method === 'tools/list')
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(reply(id, { tools: TOOLS }));
      calls.push(String(params?.name));
      return fail(left.shift() ?? 'none', { id, name: String(params?.name), response, redirectTo });
    };
    const server = createServer((request, response) => void answer(request, response));
    servers.push(server);
    const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
    await listen(0);
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      calls,
      tokens,
      sessions: () => sessions,
      close: async () => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        await closed;
      },
      reopen: () => listen(port),
    };
  }
});

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
}

async function bodyOf(request: IncomingMessage): Promise<Request> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString('utf8')) as Request;
}

function reply(id: number, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

interface Answer {
  readonly id: number;
  readonly name: string;
  readonly response: ServerResponse;
  readonly redirectTo: string;
}

function fail(fault: Fault, { id, name, response, redirectTo }: Answer): void {
  const events = { 'content-type': 'text/event-stream' };
  const body = reply(id, { content: [{ type: 'text', text: `${name} done` }] });
  switch (fault) {
    case 'none':
      return void response.writeHead(200, events).end(`event: message\ndata: ${body}\n\n`);
    case 'cut':
      return void response.writeHead(200, events).end();
    case 'half':
      response.writeHead(200, events).write(`event: message\ndata: ${body.slice(0, 20)}`);
      return void setTimeout(() => response.destroy(), 50);
    case 'cut-json':
      response.writeHead(200, { 'content-type': 'application/json' }).write(body.slice(0, 20));
      return void setTimeout(() => response.destroy(), 50);
    case 'gone-session':
      return void response.writeHead(404).end('no such session');
    case 'refused':
      return void response.writeHead(401).end('the token has expired');
    case 'failed':
      return void response.writeHead(500).end('oops');
    case 'redirect':
      return void response.writeHead(307, { location: redirectTo }).end();
    case 'flood':
      return void response.writeHead(200, events).end('x'.repeat(40 * 1024 * 1024));
  }
}
