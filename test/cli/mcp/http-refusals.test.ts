import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { GATEWAY_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Door } from '../../../src/gateway/mcp/door.js';
import { type HttpOptions, serveHttp } from '../../../src/gateway/mcp/serve-http.js';
import { freePort } from '../../support/free-port.js';

const TOKEN = 'a'.repeat(64);
const JSON_HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** No request of these tests may get so far. */
const door: Door = {
  version: '0',
  decides: true,
  client: () => Promise.reject(new Error('asked')),
  agents: () => Promise.resolve([{ name: 'default', description: 'An agent.' }]),
  start: () => Promise.reject(new Error('asked')),
};

describe('the HTTP door of the MCP server', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  async function serve(port: number, more: Partial<HttpOptions> = {}): Promise<string> {
    const stop = new AbortController();
    return await new Promise<string>((resolve, reject) => {
      const served = serveHttp({ door, host: '127.0.0.1', port, token: TOKEN, signal: stop.signal, onListening: resolve, ...more });
      stops.push(async () => {
        stop.abort();
        await served.catch(() => undefined);
      });
      served.catch(reject);
    });
  }

  it('X14: refuses what has no token, another path, another host, another method and too much, before any of it is read', async () => {
    const url = await serve(await freePort());
    const { authorization } = JSON_HEADERS;
    expect(await ask(url, {})).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(await ask(url, { headers: { authorization: `${authorization}x` } })).toMatchObject({ status: 401 });
    expect(await ask(url, { headers: { authorization: `Basic ${TOKEN}` } })).toMatchObject({ status: 401 });
    expect(await ask(url, { headers: { authorization }, path: '/' })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await ask(url, { headers: { authorization }, method: 'GET' })).toMatchObject({ status: 405 });
    expect(await ask(url, { headers: { authorization, host: 'attacker.example' } })).toMatchObject({ status: 403, code: 'BAD_HOST' });
    expect(await ask(url, { headers: JSON_HEADERS, body: 'no json' })).toMatchObject({ status: 400 });
    expect(await ask(url, { headers: { ...JSON_HEADERS, 'content-type': 'text/plain' } })).toMatchObject({ status: 415 });
    const tooMuch = 'x'.repeat(GATEWAY_LIMITS.requestBytesMax + 1);
    expect(await ask(url, { headers: JSON_HEADERS, body: tooMuch })).toMatchObject({ status: 413 });
  });

  it('slowloris: headers or a body that never end close the connection, within seconds of their time', async () => {
    const { port } = new URL(await serve(await freePort(), { timeouts: { headersTimeout: 500, requestTimeout: 1_000 } }));
    const lines = `authorization: ${JSON_HEADERS.authorization}\r\ncontent-type: application/json\r\naccept: ${JSON_HEADERS.accept}`;
    const beginnings = ['', `host: localhost\r\n${lines}\r\ncontent-length: 100\r\n\r\n{"js`].map(
      (text) => `POST /mcp HTTP/1.1\r\n${text}`,
    );
    const began = Date.now();
    await Promise.all(
      beginnings.map(async (text) => {
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => undefined);
        socket.resume();
        socket.write(text);
        await once(socket, 'close');
      }),
    );
    // Node's own interval is 30 s
    expect(Date.now() - began).toBeLessThan(20_000);
  });

  it('a port that is in use is an error that names it', async () => {
    const port = await freePort();
    await serve(port);
    await expect(serve(port)).rejects.toMatchObject({ code: 'PORT', exitCode: 2, message: expect.stringContaining(`port ${port} of`) });
  });
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function ask(url: string, { method = 'POST', path = '/mcp', headers = {}, body = '{}' }: Asked) {
  const asked = request(new URL(path, url), { method, headers });
  // the server may close the connection while the body is still sent
  asked.on('error', () => undefined);
  asked.end(body);
  const [response] = await once(asked, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const { error } = JSON.parse(text) as { error?: { code?: unknown } };
  return { status: response.statusCode, code: error?.code };
}
