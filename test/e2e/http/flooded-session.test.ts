import { describe, expect, it } from 'vitest';
import { inHalves, words } from '../../cli/http/support/chat-agent.js';
import type { GatewayClient, JsonAnswer } from '../../cli/http/support/gateway-client.js';
import { useGateways } from '../../cli/http/support/use-gateways.js';
import { latch, until } from '../../support/use-workers.js';

const gateways = useGateways();

/** More than the 2,000 updates that a server allows a workflow. `FLOOD_MESSAGES` sets another number. */
const MESSAGES = Number(process.env['FLOOD_MESSAGES'] ?? 2_500);
const AT_ONCE = 16;
const SESSION = '/v1/sessions/flooded';

describe('a flood of messages to one session', { timeout: 1_500_000 }, () => {
  it('U4: more messages than a workflow takes updates: each has an answer, the session keeps its order, and still answers', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (request, nth) => (nth === 1 ? await inHalves(held.opened)(request) : words(request, 'hello')),
    });
    const { client } = await place.gateway({ requestsPerMinute: 1_000_000 });
    const first = await client.ask(`${SESSION}/messages`, { body: { id: 'first', text: 'hi' } });
    expect(first).toMatchObject({ status: 202 });
    const statuses = new Map<number, number>();
    const accepted: string[] = [];
    let next = 0;
    const send = async (): Promise<void> => {
      for (let index = next++; index < MESSAGES; index = next++) {
        const id = `m${index}`;
        const { status } = await sent(client, { id, text: 'more' });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 202) accepted.push(id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
    expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([202, 429]);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(MESSAGES);
    held.open();
    const all = ['first', ...accepted];
    await until(async () => (await runs(client)).length === all.length, 'all answers', 600_000);
    const answered = (await runs(client)).flatMap(({ messageIds }) => messageIds);
    expect(answered.toSorted()).toEqual(all.toSorted());
  });
});

/** Sends a message until it has an answer, as the error of a session that is busy says: with the same id. */
async function sent(client: GatewayClient, body: { readonly id: string; readonly text: string }): Promise<JsonAnswer> {
  for (;;) {
    const answer = await client.ask(`${SESSION}/messages`, { body });
    if (answer.status !== 503) return answer;
    expect(answer.body).toMatchObject({ error: { message: expect.stringContaining(`same id ${body.id}`) } });
  }
}

/** The runs of the session. */
async function runs(client: GatewayClient): Promise<readonly { readonly messageIds: readonly string[] }[]> {
  const { body } = await client.ask(SESSION);
  return (body['runs'] ?? []) as { messageIds: string[] }[];
}
