import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { inHalves } from './support/chat-agent.js';
import { readEvents, type ServerEvent } from './support/gateway-client.js';
import { TOKEN, useGateways } from './support/use-gateways.js';

const gateways = useGateways();

/** Answers in words that arrive one by one. */
async function words(request: ModelRequest, text: string, answer: ModelAnswer = say(text)): Promise<ModelAnswer> {
  for (const word of text.split(/(?<= )/u)) {
    request.onDelta?.({ type: 'text', text: word });
    await new Promise((resolve) => {
      setTimeout(resolve, 40);
    });
  }
  const parts = answer.parts[0]?.type === 'text' ? answer.parts : [{ type: 'text' as const, text }, ...answer.parts];
  return { ...answer, parts };
}

/** What an event is, however the gateway numbers it. */
function keyOf({ event, data }: ServerEvent): string {
  return event.endsWith('.delta')
    ? `${event} ${String(data['turn'])} ${String(data['attempt'])} ${String(data['seq'])}`
    : `${event} ${String(data['seq'])}`;
}

/** All but the deltas. */
function keysOf(events: readonly ServerEvent[]): readonly string[] {
  return events
    .filter((event) => !isDelta(event))
    .map(keyOf)
    .toSorted();
}

function isDelta({ event }: ServerEvent): boolean {
  return event === 'text.delta';
}

/** The text of the run's turns, as a client shows it. */
function textOf(events: readonly ServerEvent[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { event, data } of events) {
    const turn = String(data['turn']);
    if (event === 'attempt.reset') texts[turn] = '';
    if (event === 'text.delta') texts[turn] = (texts[turn] ?? '') + String(data['text']);
  }
  return texts;
}

describe('the events of a run', () => {
  it('A-29: come in order, with their tokens before the answer that has them, and the result last; each has an id of its own', async () => {
    const place = await gateways.place({
      model: (request, nth) => (nth === 1 ? words(request, 'I look at it first.', call(['look', {}])) : words(request, 'All is done now.')),
    });
    const { client } = await place.gateway();
    const runId = await client.start();
    const events = await client.events(runId);
    expect(textOf(events)).toEqual({ 1: 'I look at it first.', 2: 'All is done now.' });
    expect(events[0]).toMatchObject({ event: 'run.started', data: { seq: 1 } });
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { result: { output: 'All is done now.' } } });
    expect(events.find(({ event }) => event === 'text.delta')?.data).toEqual({
      runId,
      turn: 1,
      attempt: 1,
      seq: expect.any(Number),
      text: expect.any(String),
    });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const again = await client.events(runId);
    const completed = again.findIndex(({ event }) => event === 'model.completed');
    expect(again.slice(0, completed).some(isDelta), 'stored tokens come before their answer').toBe(true);
    expect(again.findIndex((event) => isDelta(event) && event.data['turn'] === 2)).toBeGreaterThan(completed);
    expect(again.map(keyOf).toSorted()).toEqual(events.map(keyOf).toSorted());
  });

  it('U10: resume behind any event, on another gateway, without a gap and without a double; after the result there is nothing: 204', async () => {
    const place = await gateways.place({
      model: (request, nth) => (nth <= 2 ? words(request, `Step ${nth} of two.`, call(['look', {}])) : words(request, 'All is done.')),
    });
    const { client } = await place.gateway();
    const runId = await client.start();
    const events = await client.events(runId);
    const all = events.map(keyOf).toSorted();
    const other = await place.gateway();
    for (const [index, { id, event }] of events.entries()) {
      if (event === 'result') continue;
      const rest = await (index % 2 === 0 ? client : other.client).events(runId, id);
      expect([...events.slice(0, index + 1), ...rest].map(keyOf).toSorted(), `behind event ${index}`).toEqual(all);
      expect(rest.at(-1)?.event).toBe('result');
      // a second interruption, behind what the first one gave
      const middle = rest[Math.floor(rest.length / 2)];
      if (middle === undefined || middle.event === 'result') continue;
      const last = await client.events(runId, middle.id);
      const seen = [...events.slice(0, index + 1), ...rest.slice(0, rest.indexOf(middle) + 1), ...last];
      expect(seen.map(keyOf).toSorted(), `behind event ${index}, twice`).toEqual(all);
    }
    const end = await client.ask(`/v1/runs/${runId}/events`, { headers: { 'last-event-id': events.at(-1)?.id ?? '' } });
    expect(end.status).toBe(204);
  }, 120_000);

  it('begin anew for an id that no event of the run had', async () => {
    const place = await gateways.place({ model: (request) => words(request, 'All is done.') });
    const { client } = await place.gateway();
    const runId = await client.start();
    const events = await client.events(runId);
    const otherId = await client.start();
    const foreign = (await client.events(otherId)).at(-2)?.id ?? '';
    const mark = events[0]?.id.split('.')[0];
    for (const id of ['nonsense', '7', foreign, `${mark}.x`, `${mark}.1.x`]) {
      const again = await client.events(runId, id);
      // deltas that wait for the client together become one
      expect([id, keysOf(again), textOf(again)]).toEqual([id, keysOf(events), textOf(events)]);
    }
  });

  it('are read once for all clients of a run, while it works', async () => {
    const held = latch();
    const place = await gateways.place({ model: inHalves(held.opened) });
    const gateway = await place.gateway();
    const runId = await gateway.client.start();
    const waiting = new Set<number>();
    const followed = Array.from({ length: 40 }, async (_, index) => {
      const events: ServerEvent[] = [];
      for await (const event of gateway.client.follow(`/v1/runs/${runId}/events`)) {
        events.push(event);
        if (event.event === 'text.delta') waiting.add(index);
      }
      return events;
    });
    await until(() => waiting.size === 40, 'all clients have the first token');
    held.open();
    const [first = [], ...others] = await Promise.all(followed);
    expect(textOf(first)).toEqual({ 1: 'first and last' });
    for (const events of others) expect(events).toEqual(first);
    // once for what is stored, once to follow
    expect(gateway.streamsOpened()).toBe(2);
  });

  it('X21: a place that the run never had is of its own client alone: the others get all tokens and the result', async () => {
    const held = latch();
    const place = await gateways.place({ model: inHalves(held.opened) });
    const { client } = await place.gateway();
    const runId = await client.start();
    const far = '9'.repeat(15);
    const mark = createHash('sha256').update(runId).digest('hex').slice(0, 8);
    const forged = client.events(runId, `${mark}.${far}.1.${far}.${far}.x`);
    const events: ServerEvent[] = [];
    for await (const event of client.follow(`/v1/runs/${runId}/events`)) {
      events.push(event);
      if (isDelta(event)) held.open();
    }
    expect(textOf(events)).toEqual({ 1: 'first and last' });
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['run.started', 'model.completed', 'run.ended']));
    expect(events.at(-1)?.event).toBe('result');
    expect((await forged).map(({ event }) => event)).toEqual(['result']);
  });

  it('A-34: a superseded attempt is reset once, and only then; the reserved final answer supersedes nothing', async () => {
    let failed = false;
    const place = await gateways.place({
      model: async (request, nth) => {
        if (!failed) {
          failed = true;
          request.onDelta?.({ type: 'text', text: 'half an ans' });
          throw new ModelError('Model.StreamTruncated', 'cut');
        }
        return nth === 2 ? await words(request, 'A whole answer.', call(['look', {}])) : await words(request, ' Final words.');
      },
    });
    const { client } = await place.gateway();
    const runId = await client.start({ maxTurns: 1 });
    const events = await client.events(runId);
    const resets = events.filter(({ event }) => event === 'attempt.reset');
    expect(resets.map(({ data }) => data)).toEqual([{ runId, turn: 1, attempt: 2 }]);
    expect(textOf(events)).toEqual({ 1: 'A whole answer. Final words.' });
    expect(events.at(-1)).toMatchObject({ data: { result: { reason: 'max_turns', output: ' Final words.' } } });
    const reset = events.findIndex(({ event }) => event === 'attempt.reset');
    const rest = await client.events(runId, events[reset - 1]?.id);
    expect(rest.filter(({ event }) => event === 'attempt.reset')).toHaveLength(1);
  });

  it('U10: a client that never reads is disconnected, the others are not held back, and it can resume', async () => {
    const place = await gateways.place({
      model: async (request) => {
        for (let index = 0; index < 300; index += 1) {
          request.onDelta?.({ type: 'text', text: `${String(index).padStart(5, '0')}${'x'.repeat(60_000)}` });
          // the sink has a bound too
          await new Promise((resolve) => {
            setTimeout(resolve, 5);
          });
        }
        return say('long');
      },
    });
    const { client, url } = await place.gateway();
    const runId = await client.start();
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write(`GET /v1/runs/${runId}/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
    const whole = await client.events(runId);
    expect(whole.at(-1)?.event).toBe('result');
    // now it reads what the system held for it, and then nothing more
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const seen = await eventsOf(Buffer.concat(chunks));
    expect(seen.length).toBeLessThan(whole.length);
    expect(seen.some(({ event }) => event === 'result')).toBe(false);
    const rest = await client.events(runId, seen.at(-1)?.id);
    expect([...seen, ...rest].map(keyOf).toSorted()).toEqual(whole.map(keyOf).toSorted());
  });

  it('C-38: a gateway that ends closes its streams at once, starts nothing new, answers what is in work, and loses nothing', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (request) => {
        request.onDelta?.({ type: 'text', text: 'half' });
        await held.opened;
        return say('whole');
      },
    });
    const first = await place.gateway();
    const runId = await first.client.start();
    const seen: ServerEvent[] = [];
    const followed = (async () => {
      for await (const event of first.client.follow(`/v1/runs/${runId}/events`)) seen.push(event);
    })();
    await until(() => seen.some(({ event }) => event === 'text.delta'), 'the first token');
    await first.stop();
    await followed;
    expect(seen.some(({ event }) => event === 'result')).toBe(false);
    await expect(first.client.ask('/healthz')).rejects.toThrow('fetch failed');
    held.open();
    const second = await place.gateway();
    const rest = await second.client.events(runId, seen.at(-1)?.id);
    const whole = await second.client.events(runId);
    expect([...seen, ...rest].map(keyOf).toSorted()).toEqual(whole.map(keyOf).toSorted());
  });
});

/** Events of a raw answer, whose body is in chunks. */
async function eventsOf(answer: Buffer): Promise<ServerEvent[]> {
  const body: Buffer[] = [];
  for (let at = answer.indexOf('\r\n\r\n') + 4; at < answer.length; ) {
    const lineEnd = answer.indexOf('\r\n', at);
    const size = lineEnd === -1 ? 0 : Number.parseInt(answer.toString('latin1', at, lineEnd), 16);
    if (size === 0) break;
    body.push(answer.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  const events: ServerEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}
