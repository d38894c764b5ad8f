import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { call } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { inHalves, refund, words } from './support/chat-agent.js';
import type { AskOptions, GatewayClient, JsonAnswer } from './support/gateway-client.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

describe('requests that come twice, too early or too late', () => {
  it('U6: a message without a worker is 503 within its time; sent again with the same id, it is answered once', async () => {
    const place = await gateways.place({ model: (request) => words(request, 'hello') });
    const taskQueue = `late-${randomUUID()}`;
    const { client } = await place.gateway({ taskQueue });
    const path = `/v1/sessions/${taskQueue}`;
    const body = { id: 'm1', text: 'is anybody there?' };
    expect(await client.ask(`${path}/messages`, { body })).toMatchObject({ status: 503, body: { error: { code: 'NO_WORKER' } } });
    await place.worker(taskQueue);
    await expect.poll(async () => (await client.ask(`${path}/messages`, { body })).status).toBe(202);
    await expect.poll(async () => (await runs(client, path))[0]?.reason).toBe('completed');
    expect(await runs(client, path)).toMatchObject([{ messageIds: ['m1'] }]);
  });

  it('requests in another order: what comes before its time is refused and changes nothing, what comes again has one effect', async () => {
    const half = latch();
    const place = await gateways.place({
      tools: [refund],
      model: (request, nth) => (nth === 1 ? call(['refund', { order: 1 }]) : inHalves(half.opened)(request)),
    });
    const { client } = await place.gateway();
    const session = `/v1/sessions/${randomUUID()}`;
    const message = `${session}/messages`;
    // a session that no message started, a message that was not sent, a call that does not wait
    expect(await answered(client, session)).toMatchObject({ status: 404 });
    expect(await answered(client, `${message}/m1`, { method: 'DELETE' })).toMatchObject({ status: 404 });
    const sent = await Promise.all(Array.from({ length: 8 }, () => answered(client, message, { body: { id: 'm1', text: 'refund it' } })));
    expect(sent.map(({ status }) => status)).toEqual(Array<number>(8).fill(202));
    // the receipt of a request that took too long was lost
    expect(sent.filter(({ body }) => body['duplicate'] === false).length).toBeLessThanOrEqual(1);
    await until(async () => (await runs(client, session)).length === 1, 'the run');
    const [{ runId } = { runId: '' }] = await runs(client, session);
    const approvals = `/v1/runs/${encodeURIComponent(runId)}/approvals`;
    expect(await answered(client, `${approvals}/none`, { body: { decision: 'approve' } })).toMatchObject({ status: 404 });
    const pending = async (): Promise<{ callId: string }[]> => (await answered(client, approvals)).body as unknown as { callId: string }[];
    await until(async () => (await pending()).length === 1, 'the approval');
    const [{ callId } = { callId: '' }] = await pending();
    const decided = await Promise.all(
      Array.from({ length: 4 }, () => answered(client, `${approvals}/${callId}`, { body: { decision: 'approve' } })),
    );
    expect(decided.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(decided.every(({ status }) => status === 200 || status === 409)).toBe(true);
    // a message in work, and one again that was answered
    expect(await answered(client, `${message}/m1`, { method: 'DELETE' })).toMatchObject({ status: 409 });
    half.open();
    await until(async () => (await runs(client, session))[0]?.reason === 'completed', 'the end');
    expect(await answered(client, message, { body: { id: 'm1', text: 'refund it' } })).toMatchObject({
      status: 202,
      body: { duplicate: true },
    });
    expect(await runs(client, session)).toMatchObject([{ messageIds: ['m1'], reason: 'completed' }]);
    const run = await answered(client, `/v1/runs/${encodeURIComponent(runId)}`);
    expect(run.body).toMatchObject({ result: { toolCalls: 1, output: 'first and last' } });
  });
});

interface SessionRun {
  readonly runId: string;
  readonly messageIds: readonly string[];
  readonly reason?: string;
}

/** The answer to a request that is sent again while no worker answers in time, as on a busy machine. */
async function answered(client: GatewayClient, path: string, options?: AskOptions): Promise<JsonAnswer> {
  for (;;) {
    const answer = await client.ask(path, options);
    if (answer.status !== 503) return answer;
  }
}

/** The runs of a session. None before its first message. */
async function runs(client: GatewayClient, session: string): Promise<readonly SessionRun[]> {
  const { body } = await answered(client, session);
  return (body['runs'] ?? []) as SessionRun[];
}
