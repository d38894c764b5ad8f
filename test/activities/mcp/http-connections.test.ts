import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callTool, RUN, textOf } from './support/calls.js';
import { addressOf, useHttpServers } from './support/http-servers.js';
import { useMcp } from './support/mcp-kit.js';

type Answer = (id: unknown, response: ServerResponse) => unknown;

const JSON_TYPE = { 'content-type': 'application/json' };
const PIECE = 'x'.repeat(1024 * 1024);

describe('the connection to an MCP server over HTTP', { timeout: 60_000 }, () => {
  const { open } = useMcp();
  const servers = useHttpServers();

  /** A server with these tools; its calls are noted. */
  async function serve(
    tools: Record<string, Answer>,
    onGet: (response: ServerResponse) => unknown = (response) => response.writeHead(405).end(),
  ) {
    const calls: string[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method === 'GET') return onGet(response);
        const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as Request;
        const result = RESULTS(tools)[method]?.(params);
        if (id === undefined) return response.writeHead(202).end();
        if (result) return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        calls.push(params.name);
        return tools[params.name]?.(id, response);
      });
    }).listen(0, '127.0.0.1');
    servers.push(server);
    return { url: await addressOf(server), calls };
  }

  it('an answer that is silent for longer than the platform allows is waited for, before its head and after', async () => {
    const waiting: (() => unknown)[] = [];
    const { url, calls } = await serve({
      headless: (id, response) => {
        waiting.push(() => done(id, response));
      },
      silent: (id, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        const result = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
        waiting.push(() => response.end(`event: message\ndata: ${JSON.stringify(result)}\n\n`));
      },
    });
    const usual = getGlobalDispatcher();
    onTestFinished(() => setGlobalDispatcher(usual));
    setGlobalDispatcher(new Agent({ headersTimeout: 300, bodyTimeout: 300 }));
    const tools = open({ servers: { web: { url, timeoutMs: 60_000 } } });
    const answers = Promise.all([callTool(tools, 'web_headless').then(textOf), callTool(tools, 'web_silent').then(textOf)]);
    answers.catch(() => undefined);
    await expect.poll(() => calls.length).toBe(2);
    // a request of the platform, which begins later, is over
    const params = { name: 'headless', arguments: {} };
    const request = { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/call', params }) };
    await expect(fetch(url, request)).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
    for (const answer of waiting) answer();
    expect(await answers).toEqual(['done', 'done']);
  });

  it('a 500 for one call does not end the calls of others', async () => {
    const waiting: (() => unknown)[] = [];
    const { url, calls } = await serve({
      slow: (id, response) => {
        waiting.push(() => done(id, response));
      },
      fail: (_, response) => response.writeHead(500).end('no'),
    });
    const tools = open({ servers: { web: { url } } });
    const slow = callTool(tools, 'web_slow').then(textOf);
    await expect.poll(() => calls).toContain('slow');
    await expect(callTool(tools, 'web_fail')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
    for (const finish of waiting) finish();
    expect(await slow).toBe('done');
  });

  it('a network that goes away after the request was sent: a once call is not made again', async () => {
    const sockets = new Set<Socket>();
    const onConnected = (message: unknown): unknown => sockets.add((message as { readonly socket: Socket }).socket);
    subscribe('undici:client:connected', onConnected);
    onTestFinished(() => void unsubscribe('undici:client:connected', onConnected));
    // as Node reports it under an open connection: the same code as for one that was never made
    const cause = Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', syscall: 'read' });
    const { url, calls } = await serve({ act: () => sockets.forEach((socket) => socket.destroy(cause)) });
    const tools = open({ servers: { web: { url } } });
    await tools.offer(['web'], RUN);
    await expect(callTool(tools, 'web_act')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
    expect(calls).toEqual(['act']);
  });

  it('the text of an error, and a stream that continues an answer, are read up to a limit', async () => {
    const sent = { error: 0, stream: 0 };
    const { url } = await serve(
      {
        fail: (_, response) => flood(response.writeHead(503, { 'content-type': 'text/plain' }), () => (sent.error += 1)),
        cut: (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 1\nid: 1\ndata:\n\n'),
      },
      (response) => flood(response.writeHead(200, { 'content-type': 'text/event-stream' }), () => (sent.stream += 1)),
    );
    const tools = open({ servers: { web: { url } } });
    const failed = await callTool(tools, 'web_fail').then(textOf, (error: unknown) => String(error));
    expect(failed.length).toBeLessThan(100_000);
    expect(sent.error).toBeLessThan(32);
    await callTool(tools, 'web_cut', {}, { signal: AbortSignal.timeout(6_000) }).catch(() => undefined);
    // the SDK opens it a second time
    expect(sent.stream).toBeLessThan(2 * 64);
    expect(sent.stream).toBeGreaterThan(0);
  });
});

interface Request {
  readonly id?: unknown;
  readonly method: string;
  readonly params: { readonly name: string; readonly protocolVersion: string };
}

function RESULTS(tools: Record<string, Answer>): Readonly<Record<string, (params: Request['params']) => object>> {
  return {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } }),
    'tools/list': () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })) }),
    ping: () => ({}),
  };
}

function done(id: unknown, response: ServerResponse): unknown {
  const result = { content: [{ type: 'text', text: 'done' }] };
  return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** Writes 200 MiB, as fast as they are read, until the reader leaves. */
function flood(response: ServerResponse, wrote: () => unknown): void {
  let count = 0;
  const next = (): void => {
    if (response.destroyed || count === 200) return void response.end();
    count += 1;
    wrote();
    if (response.write(PIECE)) setImmediate(next);
    else response.once('drain', next);
  };
  response.on('error', () => undefined);
  next();
}
