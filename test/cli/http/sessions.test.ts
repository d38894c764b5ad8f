import { createHash } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { Right } from '../../../src/contracts/access/token-grant.js';
import type { TokenEntry } from '../../../src/gateway/http/access/tokens.js';
import { lastTextOf, say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import type { GatewayClient, ServerEvent } from './support/gateway-client.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

function entry(token: string, tenant: string): TokenEntry {
  return { tokenSha256: createHash('sha256').update(token).digest('hex'), tenant, rights: [...Right.options] };
}

function keyOf({ event, data }: ServerEvent): string {
  return `${event} ${String(data['runId'])} ${String(data['seq'])}`;
}

/** Follows a session until its run with this number has ended, from the event with an id on. */
async function followUntil(client: GatewayClient, key: string, run: number, lastEventId?: string): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of client.follow(`/v1/sessions/${key}/events`, lastEventId)) {
    events.push(event);
    if (event.event === 'session.run.ended' && event.data['runId'] === `${key}/${run}`) break;
  }
  return events;
}

/** The keys of the sessions that a client sees. */
async function keysOf(client: GatewayClient): Promise<string[]> {
  const { body } = await client.ask('/v1/sessions');
  return (body['sessions'] as { key: string }[]).map(({ key }) => key);
}

describe('sessions over HTTP', () => {
  it('C-01, U1: messages are answered in order, one run each; the stream has each run between its start and its end, and resumes anywhere', async () => {
    const place = await gateways.place({ model: (request) => say(`answer to ${lastTextOf(request)}`) });
    const { client } = await place.gateway();
    const path = '/v1/sessions/s1/messages';
    expect(await client.ask(path, { body: { id: 'm1', text: 'one' } })).toMatchObject({ status: 202, body: { id: 'm1', accepted: true } });
    expect(await client.ask(path, { body: { id: 'm2', text: 'two' } })).toMatchObject({ status: 202, body: { id: 'm2', accepted: true } });
    const events = await followUntil(client, 's1', 2);
    const order = events
      .filter(({ event }) => /^(?:session\.run\.|run\.|result$)/u.test(event))
      .map(({ event, data }) => [event, data['runId']]);
    expect(order).toEqual(
      ['s1/1', 's1/2'].flatMap((runId) =>
        ['session.run.started', 'run.started', 'run.ended', 'result', 'session.run.ended'].map((event) => [event, runId]),
      ),
    );
    const outputs = events.filter(({ event }) => event === 'result').map(({ data }) => (data['result'] as { output: string }).output);
    expect(outputs).toEqual(['answer to one', 'answer to two']);
    expect(await client.ask('/v1/sessions/s1')).toMatchObject({
      status: 200,
      body: { key: 's1', queued: [], runs: [{ runId: 's1/1', messageIds: ['m1'], reason: 'completed' }, { messageIds: ['m2'] }] },
    });
    expect(await client.ask(`/v1/runs/${encodeURIComponent('s1/2')}`)).toMatchObject({ status: 200, body: { result: { runId: 's1/2' } } });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const other = await place.gateway();
    const all = events.map(keyOf).toSorted();
    for (const [index, { id }] of events.slice(0, -1).entries()) {
      if (index % 3 !== 0) continue;
      const rest = await followUntil(index % 2 === 0 ? other.client : client, 's1', 2, id);
      expect([index, [...events.slice(0, index + 1), ...rest].map(keyOf).toSorted()]).toEqual([index, all]);
    }
  });

  it('C-06, C-07: a full queue is 429, a message that waits is withdrawn, and one in work is 409', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async () => {
        await held.opened;
        return say('done');
      },
    });
    const { client } = await place.gateway();
    const send = (id: string) => client.ask('/v1/sessions/s2/messages', { body: { id, text: id } });
    try {
      expect(await send('first')).toMatchObject({ status: 202 });
      await until(async () => (await client.ask('/v1/sessions/s2')).body['active'] === 's2/1', 'the first run is active');
      for (let index = 1; index <= 20; index += 1) expect(await send(`w${index}`)).toMatchObject({ status: 202, body: { accepted: true } });
      expect(await send('w21')).toMatchObject({ status: 429, body: { error: { code: 'QUEUE_FULL' } } });
      const unsend = (id: string) => client.ask(`/v1/sessions/s2/messages/${id}`, { method: 'DELETE' });
      for (let index = 1; index <= 20; index += 1) expect(await unsend(`w${index}`)).toMatchObject({ status: 200, body: { unsent: true } });
      // a client whose answer was lost sends it again: it must not repeat that for ever
      expect(await send('w1')).toMatchObject({ status: 409, body: { error: { code: 'MESSAGE_DROPPED' } } });
      expect(await unsend('first')).toMatchObject({ status: 409, body: { error: { code: 'MESSAGE_IN_WORK' } } });
      expect(await unsend('never')).toMatchObject({ status: 404, body: { error: { code: 'NO_SUCH_MESSAGE' } } });
    } finally {
      held.open();
    }
    expect((await followUntil(client, 's2', 1)).filter(({ event }) => event === 'session.run.started')).toHaveLength(1);
  });

  it('X21: sessions are listed, newest first, and a tenant sees only its own, without its name', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'acme2')] });
    const { client } = await place.gateway();
    for (const [via, key] of [
      [as('a'), 's5'],
      [as('a'), 's6'],
      [as('b'), 's5'],
    ] as const) {
      expect(await via.ask(`/v1/sessions/${key}/messages`, { body: { text: 'x' } })).toMatchObject({ status: 202 });
    }
    await until(async () => (await keysOf(client)).length === 3, 'all are listed');
    expect(await keysOf(as('a'))).toEqual(['s6', 's5']);
    expect(await keysOf(as('b'))).toEqual(['s5']);
    expect(await keysOf(client)).toEqual(['acme2/s5', 'acme/s6', 'acme/s5']);
    expect(await client.ask('/v1/sessions?limit=1')).toMatchObject({ body: { sessions: [{ key: 'acme2/s5', status: 'open' }] } });
  });

  it('with `from=active` a stream has nothing of runs that have ended, and the active one from its start', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (request) => {
        if (lastTextOf(request) === 'two') await held.opened;
        return say('done');
      },
    });
    const { client } = await place.gateway();
    const send = (text: string) => client.ask('/v1/sessions/s7/messages', { body: { text } });
    await send('one');
    await followUntil(client, 's7', 1);
    await send('two');
    await until(async () => (await client.ask('/v1/sessions/s7')).body['active'] === 's7/2', 'the second run is active');
    const events: ServerEvent[] = [];
    for await (const event of client.follow('/v1/sessions/s7/events?from=active')) {
      events.push(event);
      if (event.event === 'run.started') held.open();
      if (event.event === 'session.run.ended') break;
    }
    expect(events.map(({ data }) => data['runId']).filter((runId) => runId !== undefined && runId !== 's7/2')).toEqual([]);
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['session.run.started', 'run.started', 'result']));
  });

  it('U10: a stream that starts or resumes before the events that the session keeps has a gap there, once', async () => {
    const place = await gateways.place({ model: (request) => say(`answer to ${lastTextOf(request)}`) });
    let kept = 1;
    const { client } = await place.gateway({ keptFrom: () => kept });
    const send = (id: string) => client.ask('/v1/sessions/s21/messages', { body: { id, text: id } });
    for (const id of ['m1', 'm2']) await send(id);
    const events = await followUntil(client, 's21', 2);
    expect(events.filter(({ event }) => event === 'gap')).toEqual([]);
    const own = events.filter(({ event }) => /^(?:message|session)\./u.test(event));
    const seqs = own.map(({ data }) => Number(data['seq']));
    kept = seqs.length - 1;
    // the first one still has the events
    const { client: other } = await place.gateway({ keptFrom: () => kept });
    for (const from of [undefined, own[0]?.id]) {
      const late = await followUntil(other, 's21', 2, from);
      const gapAt = late.findIndex(({ event, data }) => event === 'gap' && data['runId'] === undefined);
      expect(late[gapAt]?.data).toEqual({ missing: 'events' });
      const after = late.slice(gapAt + 1).filter(({ event }) => /^(?:message|session)\./u.test(event));
      expect(after.map(({ data }) => data['seq'])).toEqual(seqs.slice(-2));
      const resumed = await followUntil(other, 's21', 2, late[gapAt]?.id);
      expect(resumed.some(({ event }) => event === 'gap')).toBe(false);
    }
  });

  it('U10: a stream that resumes in a session that was started anew has a gap, and all events of the new one', async () => {
    const place = await gateways.place({ model: (request) => say(`answer to ${lastTextOf(request)}`) });
    const { client } = await place.gateway();
    const send = (id: string) => client.ask('/v1/sessions/s10/messages', { body: { id, text: id } });
    for (const id of ['m1', 'm2']) await send(id);
    const before = await followUntil(client, 's10', 2);
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    try {
      await new Client({ connection }).workflow.getHandle('session/s10').terminate();
    } finally {
      await connection.close();
    }
    expect(await send('n1')).toMatchObject({ status: 202 });
    const after: ServerEvent[] = [];
    for await (const event of client.follow('/v1/sessions/s10/events', before.at(-1)?.id)) {
      after.push(event);
      if (event.event === 'session.run.ended') break;
    }
    expect(after[0]).toMatchObject({ event: 'gap', data: { missing: 'events' } });
    expect(after[1]).toMatchObject({ event: 'message.accepted', data: { seq: 1, id: 'n1' } });
    expect(after.filter(({ event }) => event === 'gap')).toHaveLength(1);
    expect(after.at(-1)).toMatchObject({ data: { messageIds: ['n1'] } });
  });

  it('X21: the same key is a session of its own for each tenant', async () => {
    const place = await gateways.place({ model: (request) => say(`answer to ${lastTextOf(request)}`) });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'other')] });
    expect(await as('b').ask('/v1/sessions/s3')).toMatchObject({ status: 404, body: { error: { code: 'NO_SESSION' } } });
    expect(await as('a').ask('/v1/sessions/s3/messages', { body: { text: 'secret of acme' } })).toMatchObject({ status: 202 });
    await until(async () => JSON.stringify((await as('a').ask('/v1/sessions/s3')).body).includes('completed'), 'it is answered');
    expect(await as('b').ask('/v1/sessions/s3')).toMatchObject({ status: 404 });
    for (const foreign of ['acme%2Fs3', 'other%2F..%2Facme%2Fs3', '..%2Facme%2Fs3']) {
      expect(await as('b').ask(`/v1/sessions/${foreign}`)).toMatchObject({ status: 404, body: { error: { code: 'NO_SESSION' } } });
    }
    expect(await as('b').ask('/v1/runs/acme%2Fs3%2F1')).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } });
    expect(await as('a').ask('/v1/runs/acme%2Fs3%2F1')).toMatchObject({ status: 200, body: { run: { tenant: 'acme' } } });
    expect(await as('b').ask('/v1/sessions/s3/messages', { body: { text: 'of other' } })).toMatchObject({ status: 202 });
    await until(async () => JSON.stringify((await as('b').ask('/v1/sessions/s3')).body).includes('completed'), 'it is answered');
    const transcript = await as('b').ask('/v1/runs/other%2Fs3%2F1/transcript');
    expect(JSON.stringify(transcript.body)).not.toContain('acme');
  });

  it('X21: an id with the place of a run that the session did not make is the beginning: no run of another tenant, or of this one', async () => {
    const place = await gateways.place({ model: (request) => say(`answer to ${lastTextOf(request)}`) });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'other')] });
    await as('a').ask('/v1/sessions/s8/messages', { body: { text: 'secret of acme' } });
    await until(async () => JSON.stringify((await as('a').ask('/v1/sessions/s8')).body).includes('completed'), 'it is answered');
    await as('b').ask('/v1/sessions/s8/messages', { body: { text: 'of other' } });
    await until(async () => JSON.stringify((await as('b').ask('/v1/sessions/s8')).body).includes('completed'), 'it is answered');
    let mark = '';
    for await (const { id } of as('b').follow('/v1/sessions/s8/events')) {
      mark = id.slice(0, id.indexOf('~'));
      break;
    }
    for (const forged of ['acme/s8/1', 'other/s8/../../acme/s8/1', 'other/s8/1/1']) {
      const events: ServerEvent[] = [];
      for await (const event of as('b').follow('/v1/sessions/s8/events', `${mark}~0~${encodeURIComponent(forged)}`)) {
        events.push(event);
        if (event.event === 'session.run.ended') break;
      }
      expect([forged, JSON.stringify(events)]).not.toEqual([forged, expect.stringContaining('acme')]);
      expect([forged, events.some(({ event }) => event === 'result')]).toEqual([forged, true]);
    }
  });
});
