import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Right } from '../../../../src/contracts/access/token-grant.js';
import { say } from '../../../support/agent-worker.js';
import { until } from '../../../support/use-workers.js';
import { entry } from '../support/chat-agent.js';
import type { GatewayClient } from '../support/gateway-client.js';
import { useGateways } from '../support/use-gateways.js';

const gateways = useGateways();

/** The runs that a client finds with a filter. */
async function runsOf(client: GatewayClient, query: string): Promise<{ runId: string; session?: string }[]> {
  const { status, body } = await client.ask(`/v1/runs?${query}`);
  if (status !== 200) throw new Error(`not listed: ${status} ${JSON.stringify(body)}`);
  return body['runs'] as { runId: string; session?: string }[];
}

describe('what a tenant sees', () => {
  it('X21: no address of the Temporal Web UI, which shows the runs of all', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const owner = { tokenSha256: createHash('sha256').update('owner').digest('hex'), rights: [...Right.options] };
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), owner], uiUrl: 'http://temporal.internal:8233/' });
    expect(await as('owner').ask('/v1/runs', { body: { task: 'x' } })).toMatchObject({
      status: 201,
      body: { uiUrl: expect.stringContaining('temporal.internal') },
    });
    const { status, body } = await as('a').ask('/v1/runs', { body: { task: 'x' } });
    expect([status, JSON.stringify(body)]).toEqual([201, expect.not.stringContaining('temporal.internal')]);
    const shown = await as('a').ask(`/v1/runs/${String(body['runId'])}`);
    expect(JSON.stringify(shown.body)).not.toContain('temporal.internal');
  });

  it('X21: the runs of a session by its own key, and never those of another tenant', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'other')] });
    const { client } = await place.gateway();
    for (const via of [as('a'), as('b'), client]) {
      expect(await via.ask('/v1/sessions/s20/messages', { body: { text: 'x' } })).toMatchObject({ status: 202 });
    }
    // a run may name a session without being one of its runs
    const named = await as('a').start({ session: 's20' });
    await until(async () => (await runsOf(client, 'status=completed')).length === 4, 'all are listed');
    const own = await runsOf(as('a'), 'session=s20');
    expect(own.map(({ runId }) => runId).toSorted()).toEqual(['acme/s20/1', named].toSorted());
    expect(own.map(({ session }) => session)).toEqual(['s20', 's20']);
    expect((await runsOf(as('b'), 'session=s20')).map(({ runId }) => runId)).toEqual(['other/s20/1']);
    expect(await as('a').ask('/v1/runs/acme%2Fs20%2F1')).toMatchObject({ body: { run: { session: 's20' } } });
    for (const foreign of ['other/s20', 'other%2Fs20', '..%2Fother%2Fs20', 'x" OR AgentTenant = "other']) {
      const { status, body } = await as('a').ask(`/v1/runs?session=${foreign}`);
      expect([foreign, status, body['error']]).toEqual([foreign, 422, expect.objectContaining({ code: 'BAD_SESSION_ID' })]);
    }
    expect((await runsOf(client, 'session=acme/s20')).map(({ runId }) => runId)).toEqual(['acme/s20/1']);
    expect((await runsOf(client, 'session=s20')).map(({ runId }) => runId).toSorted()).toEqual([named, 's20/1'].toSorted());
  });
});
