import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../src/contracts/constants/limits.js';
import { StreamLimit } from '../../../src/gateway/http/access/stream-limit.js';
import { ROUTES } from '../../../src/gateway/http/routes/routes.js';
import type { Call } from '../../../src/gateway/http/routing/route.js';
import { say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { entry } from './support/chat-agent.js';
import type { GatewayClient } from './support/gateway-client.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

/** Opens a stream, and resolves with its status. Ended by `leave`. */
async function open(client: GatewayClient, path: string, leave: AbortSignal): Promise<[number, unknown, string | null]> {
  const response = await fetch(new URL(path, client.url), { headers: client.authorization, signal: leave });
  const { status, headers } = response;
  if (status === 200) return [status, undefined, null];
  const { error } = (await response.json()) as { error: { code: string } };
  return [status, error.code, headers.get('retry-after')];
}

describe('the limit of open streams', () => {
  it('of a token: one more is 429, starts nothing, and leaves other tokens and requests alone; a stream that ends makes room', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async () => {
        await held.opened;
        return say('done');
      },
    });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'other')], streamsMax: 2 });
    const runId = await as('a').start();
    const path = `/v1/runs/${runId}/events`;
    const [first, second] = [new AbortController(), new AbortController()];
    try {
      expect(await open(as('a'), path, first.signal)).toEqual([200, undefined, null]);
      expect(await open(as('a'), path, second.signal)).toEqual([200, undefined, null]);
      expect(await open(as('a'), path, second.signal)).toEqual([429, 'TOO_MANY_STREAMS', expect.stringMatching(/^\d+$/u)]);
      const chat = { id: 'c1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'x' }] }] };
      expect(await as('a').ask('/v1/chat', { body: chat })).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_STREAMS' } } });
      expect(await as('a').ask('/v1/sessions/c1'), 'the message was not sent').toMatchObject({ status: 404 });
      expect(await as('a').ask('/v1/runs/nothing/events')).toMatchObject({ status: 429 });
      expect(await as('a').ask(`/v1/runs/${runId}`)).toMatchObject({ status: 200 });
      const theirs = await as('b').start();
      expect(await open(as('b'), `/v1/runs/${theirs}/events`, second.signal)).toEqual([200, undefined, null]);
      first.abort();
      await until(async () => (await open(as('a'), path, second.signal))[0] === 200, 'the stream that ended made room');
      expect((await open(as('a'), path, second.signal))[0]).toBe(429);
    } finally {
      held.open();
      second.abort();
    }
  });

  it('counts the streams of each token, and forgets tokens without one', () => {
    const limit = new StreamLimit(2);
    const [one, two] = [limit.take('a'), limit.take('a')];
    expect([limit.take('a'), typeof limit.take('b')]).toEqual([undefined, 'function']);
    one?.();
    one?.();
    expect([typeof limit.take('a'), limit.take('a')]).toEqual(['function', undefined]);
    two?.();
    expect(limit.take('a')).toBeTypeOf('function');
    expect(HTTP_LIMITS.streamsMaxDefault).toBeLessThan(HTTP_LIMITS.connectionsMax);
  });
});

describe('/openapi.json', () => {
  it('is made once, because requests for it need no token', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { client } = await place.gateway();
    expect(await client.ask('/openapi.json')).toMatchObject({ status: 200, body: { openapi: '3.1.0', info: { version: '0' } } });
    const route = ROUTES.find(({ path }) => path === '/openapi.json');
    // the route reads only the version
    const call = { gateway: { door: { version: '0' } }, params: {}, query: {}, body: undefined } as unknown as Call;
    const [first, second] = [await route?.run(call), await route?.run(call)];
    expect(first).toHaveProperty('file.bytes');
    expect(first && 'file' in first && second && 'file' in second && first.file.bytes === second.file.bytes).toBe(true);
  });
});
