import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineWireFormat, ModelError, type ModelProvider, type ProviderServer } from '../../../src/define/index.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import { modelRequest } from '../support/wire.js';

const KEY = 'acme-secret-0123456789';
const ANSWER = { parts: [{ type: 'text' as const, text: 'hello' }], stop: 'end' as const };

describe('a wire format of the config', () => {
  it('its code is called with the request, and the server that the config describes', async () => {
    let seen: ProviderServer | undefined;
    const provider = providerOf((server) => {
      seen = server;
      return { call: async ({ model, prompt }) => ({ ...ANSWER, requestId: `${model} ${prompt.length > 0}` }) };
    });
    expect(await provider.call(modelRequest({ model: 'm', prompt: 'p' }))).toEqual({ ...ANSWER, requestId: 'm true' });
    expect(seen?.baseUrl).toBe('https://acme.example.com/v1');
    expect([seen?.key(), seen?.key('env:OTHER')]).toEqual([KEY, 'free']);
    expect(() => seen?.key('env:NONE')).toThrow(expect.objectContaining({ type: 'Model.Auth' }));
  });

  it.each([
    ['no parts', { stop: 'end' }, 'parts: '],
    ['an unknown stop', { parts: [], stop: 'done' }, 'stop: '],
    ['a result in an answer', { parts: [{ type: 'tool_result', callId: 'c', isError: false, parts: [] }], stop: 'end' }, 'parts.0'],
    ['nothing', undefined, ''],
  ])('an answer with %s is Model.BadResponse, with the place', async (_, answer, place) => {
    const provider = providerOf(() => ({ call: async () => answer as never }));
    await expect(provider.call(modelRequest({}))).rejects.toMatchObject({
      type: 'Model.BadResponse',
      message: expect.stringContaining(`the wire format acme returned an invalid answer: ${place}`),
    });
  });

  it('what it throws is classified: its own ModelError, one of another copy, a status, a socket, a mistake in its code', async () => {
    expect(await typeOf(new ModelError('Model.Overloaded', 'busy'))).toBe('Model.Overloaded');
    expect(await typeOf(Object.assign(new Error('x'), { name: 'ModelError', type: 'Model.Quota' }))).toBe('Model.Quota');
    expect(await typeOf(Object.assign(new Error('x'), { status: 429 }))).toBe('Model.RateLimited');
    expect(await typeOf(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe('Model.Unreachable');
    expect(await typeOf(new TypeError('x is not a function'))).toBe('Model.BadResponse');
  });

  it('X16: the keys that it was handed are in none of its errors, also those it wrote itself', async () => {
    const provider = providerOf(({ key }) => ({ call: () => Promise.reject(new Error(`refused ${key()}`)) }));
    const error: unknown = await provider.call(modelRequest({})).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('refused');
    expect(String(error)).not.toContain(KEY);
  });

  it('a format that throws when it is created fails the call, and the next call creates it again', async () => {
    let created = 0;
    const provider = providerOf(() => {
      created += 1;
      if (created === 1) throw new ModelError('Model.NotFound', 'no such region');
      return { call: async () => ANSWER };
    });
    await expect(provider.call(modelRequest({}))).rejects.toMatchObject({ type: 'Model.NotFound' });
    expect(await provider.call(modelRequest({}))).toEqual(ANSWER);
  });

  it('events of a stream come as they arrive, with any line end, names and comments; a last one without its blank line if it is whole', async () => {
    const pieces = ['event: a\r\ndata: 1\r', '\n\r\n: ping\n\ndata:2\ndata: 3\n', '\ndata: {"4":4}'];
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      for (const piece of pieces) response.write(piece);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = providerOf(({ fetch, events }) => ({
      async call({ signal }) {
        const seen: unknown[] = [];
        for await (const event of events(await fetch(url, { signal }))) seen.push(event);
        return { ...ANSWER, parts: [{ type: 'text', text: JSON.stringify(seen) }] };
      },
    }));
    const { parts } = await provider.call(modelRequest({}));
    expect(JSON.parse(parts[0]?.type === 'text' ? parts[0].text : '')).toEqual([
      { event: 'a', data: '1' },
      { event: 'message', data: '2\n3' },
      { event: 'message', data: '{"4":4}' },
    ]);
  });

  it('a request to a silent server ends with Model.StreamIdle, also in code that ignores its signal', async () => {
    const provider = providerOf(() => ({ call: () => new Promise(() => undefined) }));
    await expect(provider.call(modelRequest({ idleMs: 50 }))).rejects.toMatchObject({ type: 'Model.StreamIdle' });
  });
});

/** The type of the failure that a run sees when a wire format throws. */
async function typeOf(thrown: unknown): Promise<unknown> {
  const [outcome] = await Promise.allSettled([providerOf(() => ({ call: () => Promise.reject(thrown) })).call(modelRequest({}))]);
  return outcome.status === 'rejected' && outcome.reason instanceof ModelError ? outcome.reason.type : outcome;
}

function providerOf(create: (server: ProviderServer) => ModelProvider): ModelProvider {
  const format = defineWireFormat({ name: 'acme', create });
  const definition = { api: 'custom', format, baseUrl: 'https://acme.example.com/v1/', credentials: 'env:ACME_KEY' } as const;
  const keys = captureKeys({ ACME_KEY: KEY }, ['env:ACME_KEY']);
  return createProviderFor({ config: { providers: { acme: definition } }, env: { OTHER: 'free' }, keys })('acme/m').provider;
}
