import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  parameters: z.strictObject({ to: z.string() }),
  effect: 'once',
  approval: 'always',
  execute: ({ to }) => `deployed to ${to}`,
});

describe('runs over HTTP', () => {
  it('starts a run, shows it, its messages and its result, and lists it', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { client } = await place.gateway();
    const started = await client.ask('/v1/runs', { body: { task: 'do it', agent: 'default', session: 's1' } });
    expect(started).toMatchObject({ status: 201, body: { runId: expect.stringMatching(/^run-/u), duplicate: false } });
    const runId = String(started.body['runId']);
    expect((await client.events(runId)).at(-1)).toMatchObject({
      event: 'result',
      data: { result: { reason: 'completed', output: 'done' } },
    });
    expect(await client.ask(`/v1/runs/${runId}`)).toMatchObject({
      status: 200,
      body: { progress: { status: 'completed', turn: 1 }, result: { output: 'done' }, run: { runId, task: 'do it' } },
    });
    const transcript = await client.ask(`/v1/runs/${runId}/transcript`);
    expect(transcript.body).toMatchObject({ from: 0, next: 2, length: 2, messages: [{ role: 'user' }, { role: 'assistant' }] });
    const second = await client.ask(`/v1/runs/${runId}/transcript?from=1&to=2`);
    expect(second.body).toMatchObject({ from: 1, next: 2, length: 2, messages: [{ role: 'assistant' }] });
    await until(async () => (await runIds('status=completed&session=s1&agent=default')).includes(runId), 'the list has the run');
    expect(await runIds('status=open')).toEqual([]);

    async function runIds(query: string): Promise<string[]> {
      const { body } = await client.ask(`/v1/runs?${query}`);
      return (body['runs'] as { runId: string }[]).map((run) => run.runId);
    }
  });

  it('lists page by page: each run once', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { client } = await place.gateway();
    const started = await Promise.all(Array.from({ length: 7 }, () => client.start()));
    await until(async () => ((await client.ask('/v1/runs?status=completed')).body['runs'] as unknown[]).length === 7, 'all are listed');
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await client.ask(`/v1/runs?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...(body['runs'] as { runId: string }[]).map(({ runId }) => runId));
      cursor = typeof body['cursor'] === 'string' ? body['cursor'] : '';
    } while (cursor !== '');
    expect(seen.toSorted()).toEqual(started.toSorted());
    expect(await client.ask('/v1/runs?cursor=nonsense')).toMatchObject({ status: 422, body: { error: { code: 'BAD_CURSOR' } } });
  });

  it('P12, U1: the same Idempotency-Key is one run however often and at once it is sent; with another input it is refused', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { client } = await place.gateway();
    const other = await place.gateway();
    const send = (via: typeof client, task: string) => via.ask('/v1/runs', { body: { task }, headers: { 'idempotency-key': 'order-7' } });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index % 2 === 0 ? client : other.client, 'refund it')));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 200 && body['duplicate'] === true)).toHaveLength(19);
    expect(new Set(answers.map(({ body }) => body['runId'])).size).toBe(1);
    await client.events(String(answers[0]?.body['runId']));
    expect(await send(client, 'refund it')).toMatchObject({ status: 200, body: { duplicate: true } });
    expect(await send(other.client, 'refund it twice')).toMatchObject({ status: 409, body: { error: { code: 'RUN_EXISTS' } } });
    const keyless = await Promise.all([client.start({ task: 'refund it' }), client.start({ task: 'refund it' })]);
    expect(new Set(keyless).size).toBe(2);
  });

  it('takes messages once per id, pauses, resumes, extends and cancels; a closed run is 409', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (_, nth) => {
        if (nth === 1) await held.opened;
        return nth === 1 ? call(['look', {}]) : say('done');
      },
    });
    const { client } = await place.gateway();
    const runId = await client.start({ maxTurns: 5 });
    const path = `/v1/runs/${runId}`;
    await until(async () => (await client.ask(path)).body['progress'] !== undefined, 'progress');
    const message = { id: 'm1', text: 'also this', mode: 'boundary' };
    expect(await client.ask(`${path}/messages`, { body: message })).toMatchObject({
      status: 202,
      body: { id: 'm1', accepted: true, duplicate: false },
    });
    expect(await client.ask(`${path}/messages`, { body: message })).toMatchObject({ status: 202, body: { id: 'm1', accepted: true } });
    expect(await client.ask(`${path}/extend`, { body: { turns: 3 } })).toMatchObject({ status: 200, body: { maxTurns: 8 } });
    expect(await client.ask(`${path}/pause`, { method: 'POST' })).toMatchObject({ status: 202, body: { runId } });
    held.open();
    await until(async () => statusOf(await client.ask(path)) === 'paused', 'the run is paused');
    expect(await client.ask(`${path}/resume`, { method: 'POST' })).toMatchObject({ status: 202 });
    const events = await client.events(runId);
    expect(events.filter(({ event }) => event === 'steer.delivered')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ data: { result: { reason: 'completed' } } });
    for (const verb of ['pause', 'resume']) {
      expect(await client.ask(`${path}/${verb}`, { method: 'POST' })).toMatchObject({
        status: 409,
        body: { error: { code: 'RUN_CLOSED' } },
      });
    }
    expect(await client.ask(`${path}/messages`, { body: message })).toMatchObject({ status: 409, body: { error: { code: 'RUN_CLOSED' } } });
    expect(await client.ask(`${path}/extend`, { body: { turns: 1 } })).toMatchObject({ status: 409 });
    expect(await client.ask(`${path}/cancel`, { body: {} })).toMatchObject({ status: 202, body: { runId, alreadyClosed: 'completed' } });
    expect(await client.ask(`${path}/approvals`)).toMatchObject({ status: 200, body: [] });
  });

  it('cancels an open run with its reason', async () => {
    const place = await gateways.place({ model: () => call(['deploy', { to: 'production' }]), tools: [deploy] });
    const { client } = await place.gateway();
    const runId = await client.start();
    expect(await client.ask(`/v1/runs/${runId}/cancel`, { body: { reason: 'not needed' } })).toEqual(
      expect.objectContaining({ status: 202, body: { runId } }),
    );
    const events = await client.events(runId);
    expect(events.find(({ event }) => event === 'cancel.requested')).toMatchObject({ data: { reason: 'not needed' } });
    expect(events.at(-1)).toMatchObject({ data: { result: { reason: 'cancelled' } } });
  });

  it('C10: lists pending approvals and takes one decision of each; a second one is 409, an unknown call 404', async () => {
    const place = await gateways.place({
      model: (_, nth) => (nth <= 2 ? call(['deploy', { to: `host${nth}` }]) : say('done')),
      tools: [deploy],
    });
    const { client } = await place.gateway();
    const runId = await client.start();
    const path = `/v1/runs/${runId}/approvals`;
    const first = await pending();
    expect(first).toMatchObject({ runId, tool: 'deploy', args: { to: 'host1' }, since: expect.stringContaining('T') });
    expect(await client.ask(`${path}/nothing`, { body: { decision: 'approve' } })).toMatchObject({
      status: 404,
      body: { error: { code: 'NO_SUCH_APPROVAL' } },
    });
    expect(await client.ask(`${path}/${first.callId}`, { body: { decision: 'approve' } })).toMatchObject({
      status: 200,
      body: { decision: 'approved', by: 'http' },
    });
    const again = await client.ask(`${path}/${first.callId}`, { body: { decision: 'deny' } });
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'ALREADY_DECIDED', message: expect.stringContaining('by http') } } });
    const second = await pending(first.callId);
    expect(await client.ask(`${path}/${second.callId}`, { body: { decision: 'deny', reason: 'too late' } })).toMatchObject({
      status: 200,
      body: { decision: 'denied', reason: 'too late' },
    });
    const results = (await client.events(runId)).filter(({ event }) => event === 'tool.result');
    expect(results.map(({ data }) => data['isError'])).toEqual([false, true]);

    async function pending(not?: string): Promise<{ readonly callId: string }> {
      let found: { readonly callId: string } | undefined;
      await until(async () => {
        const { body } = await client.ask(path);
        found = (body as unknown as { callId: string }[]).find(({ callId }) => callId !== not);
        return found !== undefined;
      }, 'an approval is pending');
      return found ?? { callId: '' };
    }
  });
});

function statusOf({ body }: { readonly body: Record<string, unknown> }): unknown {
  return (body['progress'] as { status?: unknown } | undefined)?.status;
}
