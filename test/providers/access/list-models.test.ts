import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { listModels } from '../../../src/providers/access/list-models.js';
import type { ServerAccess } from '../../../src/providers/access/provider-access.js';
import { type ListServer, startListServer } from '../../activities/support/list-server.js';
import { freePort } from '../../support/free-port.js';

/** More than a list may have, packed: it is sent at once. */
const BOMB = gzipSync(Buffer.alloc(17 * 1_024 * 1_024, ' '));
const KEY = 'k-0123456789abcdef';

describe('listModels', () => {
  let server: ListServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  it("a server of OpenAI's formats is asked once, below its base address, with its key", async () => {
    expect(await list(['a', 'vendor/b'])).toEqual(['a', 'vendor/b']);
    expect(server?.requests).toMatchObject([{ url: '/v1/models', headers: { authorization: `Bearer ${KEY}` } }]);
  });

  it("one of Anthropic's format is asked for the whole list, with its own header and version", async () => {
    expect(await list(['claude'], { api: 'anthropic', path: '/' })).toEqual(['claude']);
    const { url, headers } = server?.requests[0] ?? {};
    expect(url).toBe('/v1/models?limit=1000');
    expect(headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('quirks say where the key goes and what else is sent; without a key none is sent', async () => {
    const quirks = { keyHeader: 'api-key', query: { 'api-version': '1' }, headers: { 'x-team': 'red' } } as const;
    await list(['a'], { quirks });
    expect(server?.requests).toMatchObject([{ url: '/v1/models?api-version=1', headers: { 'api-key': KEY, 'x-team': 'red' } }]);
    await server?.close();
    await list(['a'], { credentials: [] });
    expect(JSON.stringify(server?.requests)).not.toContain(KEY);
  });

  it('a list without an envelope, and ids with `models/` in front, are read', async () => {
    expect(await list(json([{ id: 'models/gemini-x' }, { id: 'b' }, { name: 'no id' }, null]))).toEqual(['gemini-x', 'b']);
  });

  it.each<[string, (response: ServerResponse) => void, string, string]>([
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'Model.BadResponse',
      'redirected the request',
    ],
    ['a refused key', (response) => response.writeHead(401).end(`bad key ${KEY}`), 'Model.Auth', 'status 401'],
    ['no such page', (response) => response.writeHead(404).end(), 'Model.BadResponse', 'status 404'],
    ['a web page', (response) => response.writeHead(200).end('<html></html>'), 'Model.BadResponse', 'no list of models'],
    ['another object', json({ models: [] }), 'Model.BadResponse', 'no list of models'],
    ['a hang-up', (response) => response.destroy(), 'Model.Unreachable', '127.0.0.1'],
    ['a list without an end', bomb, 'Model.BadResponse', 'more than 16 MiB'],
  ])('%s is an error that names the host, and no part of the key', async (_, answer, type, message) => {
    const error = await list(answer).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ModelError', type, message: expect.stringContaining(message) });
    expect(String(error)).toContain('127.0.0.1');
    expect(String(error)).not.toMatch(/k-0123|cdef/u);
    expect(server?.requests).toHaveLength(1);
  });

  it('a server that says nothing is waited for five seconds, one that trickles too', { timeout: 20_000 }, async () => {
    const servers = await Promise.all([startListServer(() => undefined), startListServer(trickle)]);
    const started = Date.now();
    const [silent, slow] = await Promise.allSettled(servers.map(({ origin }) => listModels(accessTo(`${origin}/v1`))));
    expect(Date.now() - started).toBeLessThan(8_000);
    expect(silent).toMatchObject({ reason: { type: 'Model.Timeout', message: expect.stringContaining('within 5 s') } });
    expect(slow).toMatchObject({ reason: { type: 'Model.Timeout' } });
    await Promise.all(servers.map((running) => running.close()));
  });

  it('nobody there is Model.Unreachable, and named once; a caller may stop the question, and gets its own reason', async () => {
    const port = await freePort();
    await expect(listModels(accessTo(`http://127.0.0.1:${port}/v1`))).rejects.toMatchObject({
      type: 'Model.Unreachable',
      message: `127.0.0.1:${port} is unreachable: connect ECONNREFUSED`,
    });
    const stop = new AbortController();
    const asked = list(() => stop.abort(new Error('stopped')), {}, stop.signal);
    await expect(asked).rejects.toThrow('stopped');
  });

  async function list(
    models: Parameters<typeof startListServer>[0],
    { path = '/v1', ...access }: Partial<ServerAccess> & { readonly path?: string } = {},
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    server = await startListServer(models);
    return await listModels({ ...accessTo(`${server.origin}${path}`), ...access }, signal);
  }
});

function accessTo(baseUrl: string): ServerAccess {
  return { kind: 'server', api: 'openai-chat', baseUrl, apiKey: KEY, credentials: ['env:K'] };
}

function json(value: unknown): (response: ServerResponse) => void {
  return (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A few kilobytes that become many megabytes. */
function bomb(response: ServerResponse): void {
  response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB);
}

function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 200);
  response.on('close', () => clearInterval(timer));
}
