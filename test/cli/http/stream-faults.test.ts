import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { ownerToken, Tokens } from '../../../src/gateway/http/access/tokens.js';
import { createApp } from '../../../src/gateway/http/app.js';
import { Gateway } from '../../../src/gateway/http/routing/gateway.js';
import { say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import type { ServerEvent } from './support/gateway-client.js';
import { TOKEN, useGateways } from './support/use-gateways.js';

const gateways = useGateways();

function startNothing(): Promise<never> {
  return Promise.reject(new Error('starts nothing'));
}

/** Waits for the latch, then throws. A source reads like this when its code has a defect. */
function failing(opened: Promise<void>, defect: unknown): AsyncIterable<never> {
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        await opened;
        throw defect;
      },
    }),
  };
}

describe('a stream', () => {
  it('whose client left before it began is not followed: its feed ends, and a session is queried no more', async () => {
    const taskQueue = `left-${process.pid}-${Date.now()}`;
    const place = await gateways.place({ taskQueue, model: () => say('done') });
    const { client: other } = await place.gateway();
    await other.ask('/v1/sessions/left/messages', { body: { text: 'x' } });
    await until(async () => JSON.stringify((await other.ask('/v1/sessions/left')).body).includes('completed'), 'it is answered');
    const client = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue });
    // behind all events of the session, so that a follower polls
    const mark = createHash('sha256').update('session/left').digest('hex').slice(0, 8);
    const ready = latch();
    let queries = 0;
    const session = client.session.bind(client);
    client.session = (...args) => {
      const handle = session(...args);
      const events = handle.events.bind(handle);
      handle.events = async (asked) => {
        queries += 1;
        return await events(asked);
      };
      return handle;
    };
    const streams = {
      async *read() {
        // no tokens
      },
    };
    const gateway = new Gateway({ version: '0', client, streams, ready: ready.opened, start: startNothing });
    let waiting = 0;
    const untilReady = gateway.untilReady.bind(gateway);
    gateway.untilReady = async () => {
      waiting += 1;
      await untilReady();
    };
    const defects: unknown[] = [];
    const app = createApp({
      gateway,
      callers: new Tokens(ownerToken(TOKEN)),
      requestsPerMinute: 100,
      onDefect: (error) => defects.push(error),
    });
    try {
      const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
      const asked = ['/v1/sessions/left/events', '/v1/runs/left%2F1/events'].map((path) => {
        const headers = { authorization: `Bearer ${TOKEN}`, 'last-event-id': `${mark}~999` };
        const sent = request({ host: url.hostname, port: url.port, path, headers });
        sent.on('error', () => undefined).end();
        return sent;
      });
      const connections = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
      await until(async () => (await connections()) === 2 && waiting === 2, 'both requests wait');
      for (const sent of asked) sent.destroy();
      await until(async () => (await connections()) === 0, 'both clients left');
      const answered = gateway.inWork.ended(10_000);
      ready.open();
      await answered;
      await until(() => gateway.feeds.size === 0, 'no run is followed');
      // a client that is followed costs a query a second
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect(queries).toBe(0);
      expect(defects).toEqual([]);
    } finally {
      await app.close();
      await gateway.drain();
      await client.close();
    }
  });

  it('of a session continues through an outage of the Temporal server, with the events of the active run', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async () => {
        await held.opened;
        return say('done');
      },
    });
    let failures = 0;
    let isOut = false;
    const { client } = await place.gateway({
      onSessionEvents() {
        if (!isOut) return;
        failures += 1;
        if (failures === 3) isOut = false;
        throw new PerdureError('TEMPORAL_UNREACHABLE', 'no answer', 5);
      },
    });
    await client.ask('/v1/sessions/s9/messages', { body: { text: 'one' } });
    const events: ServerEvent[] = [];
    for await (const event of client.follow('/v1/sessions/s9/events')) {
      events.push(event);
      if (event.event === 'run.started') isOut = true;
      if (event.event === 'run.started') void until(() => failures >= 3, 'the outage ends').finally(() => held.open());
      if (event.event === 'session.run.ended') break;
    }
    expect(failures).toBe(3);
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['result', 'session.run.ended']));
    expect(events.map(({ event }) => event)).not.toContain('gap');
  });

  it('that ends with a defect of the gateway reports it, once for all clients of a run', async () => {
    const [asked, held] = [latch(), latch()];
    const place = await gateways.place({
      model: async () => {
        asked.open();
        await held.opened;
        return say('done');
      },
    });
    const defects: unknown[] = [];
    const defect = new TypeError('a defect of the source');
    const { client } = await place.gateway({
      onDefect: (error) => defects.push(error),
      streams: { read: () => failing(held.opened, defect) },
    });
    const runId = await client.start();
    await asked.opened;
    const followed = Array.from({ length: 5 }, () => client.events(runId));
    await until(async () => (await client.ask(`/v1/runs/${runId}`)).status === 200, 'the run works');
    held.open();
    await Promise.all(followed);
    expect(defects).toEqual([defect]);
  });
});
