import { describe, expect, it } from 'vitest';
import type { Webhook } from '../../../src/gateway/http/webhooks/mount-webhooks.js';
import { say } from '../../support/agent-worker.js';
import { rawAsk } from './support/gateway-client.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

describe('webhooks of chat platforms', () => {
  it('get the bytes of a request and need no token; other routes keep both checks', async () => {
    const bodies: Buffer[] = [];
    const webhook: Webhook = {
      name: 'team',
      receive: ({ body }) => {
        bodies.push(body);
        return Promise.resolve({ status: 202, body: { taken: true }, headers: { 'x-from': 'team' } });
      },
    };
    const place = await gateways.place({ model: () => say('done') });
    const { url, stop } = await place.gateway({ webhooks: [webhook] });
    const send = (path: string, body: string, headers: Record<string, string>) =>
      fetch(new URL(path, url), { method: 'POST', body, headers });
    const text = '{ "a" : 1 }';
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const answer = await send('/channels/team', text, { 'content-type': type });
      expect([answer.status, answer.headers.get('x-from'), await answer.json()]).toEqual([202, 'team', { taken: true }]);
    }
    expect(bodies.map(String)).toEqual([text, text]);
    expect((await send('/channels/other', text, {})).status).toBe(404);
    expect((await send('/v1/runs', '{"task":"x"}', { 'content-type': 'application/json' })).status).toBe(401);
    expect((await send('/channels/team', 'x'.repeat(1_100_000), { 'content-type': 'application/json' })).status).toBe(413);
    // through a tunnel, a request has the name of the tunnel
    const tunnelled = { host: 'bot.example.com', 'content-type': 'application/json' };
    expect(await rawAsk(url, { method: 'POST', path: '/channels/team', headers: tunnelled, body: '{}' })).toMatchObject({ status: 202 });
    expect(await rawAsk(url, { method: 'GET', path: '/v1/runs', headers: tunnelled })).toMatchObject({ status: 403 });
    await stop();
    expect(bodies).toHaveLength(3);
  });
});
