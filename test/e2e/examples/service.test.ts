import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/use-workers.js';
import { useExample } from './support/example-folder.js';

/** One server-sent event. */
interface Sent {
  readonly id?: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe('D3: a service with Fastify', () => {
  const example = useExample('service');

  it('starts, streams tokens, steers, decides and cancels; killed in mid-run it goes on where its browser was', async () => {
    const port = await freePort();
    const dev = example.spawn(['dev', '--port', String(port)]);
    await dev.prints('worker running');
    const serve = async () => {
      const service = example.spawn([], { program: example.path('start.mjs'), TEMPORAL_ADDRESS: `127.0.0.1:${port}`, PORT: '0' });
      await service.prints('listening at ');
      const [, url = ''] = /listening at (?<url>http:\S+)/u.exec(service.stdout) ?? [];
      return { service, ...caller(url) };
    };
    const first = await serve();

    expect(await first.post('/runs', { id: 'c1', task: 'Refund order 7.' })).toEqual({ status: 202, body: { id: 'c1', duplicate: false } });
    expect(await first.post('/runs', { id: 'c1', task: 'Refund order 7.' })).toEqual({ status: 200, body: { id: 'c1', duplicate: true } });
    expect(await first.post('/runs', { id: 'c1', task: 'Another.' })).toMatchObject({ status: 409, body: { code: 'RUN_EXISTS' } });
    expect(await first.post('/runs', { task: 7, extra: 1 })).toMatchObject({ status: 400 });
    expect(await first.get('/runs/none')).toMatchObject({ status: 404, body: { code: 'RUN_NOT_FOUND' } });
    expect(await first.get('/runs/none/events')).toMatchObject({ status: 404 });

    const seen: Sent[] = [];
    const reading = first.events('c1', seen).catch(() => undefined);
    await until(() => seen.some(({ data }) => typeOf(data) === 'approval.asked'), 'the approval');
    expect(streamed(seen)).toContain('The lamp can be refunded.');
    expect(await first.post('/runs/c1/messages', { text: 'Thank you.', id: 'm1' })).toMatchObject({ status: 202 });
    await first.service.kill('SIGKILL');
    await reading;

    const second = await serve();
    const lastId = seen.findLast(({ id }) => id !== undefined)?.id;
    const after: Sent[] = [];
    const ending = second.events('c1', after, lastId);
    const { body } = await second.get('/runs/c1/approvals');
    const [{ callId }] = body as [{ callId: string }];
    expect(await second.post(`/runs/c1/approvals/${callId}`, { decision: 'approve', by: 'ada' })).toMatchObject({
      status: 200,
      body: { decision: 'approved', by: 'ada', tool: 'refund' },
    });
    expect(await second.post(`/runs/c1/approvals/${callId}`, { decision: 'deny', by: 'bob' })).toMatchObject({ status: 409 });
    await ending;
    const result = { reason: 'completed', output: expect.stringMatching(/refunded 49 euros for order 7\. You also wrote: .*Thank you\./u) };
    expect(after.at(-1)).toMatchObject({ event: 'result', data: { result } });
    const ids = [...seen, ...after].flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));

    await second.post('/runs', { id: 'c2', task: 'Refund order 7.' });
    expect((await second.post('/runs/c2/cancel', {})).status).toBe(202);
    await until(async () => ((await second.get('/runs/c2')).body as { status: string }).status === 'cancelled', 'the cancel');
    expect((await second.service.kill('SIGTERM')).code).toBe(0);
  });
});

function caller(url: string) {
  const answer = async (response: Response) => ({ status: response.status, body: (await response.json()) as unknown });
  const headers = { 'content-type': 'application/json' };
  return {
    get: async (path: string) => await answer(await fetch(url + path)),
    post: async (path: string, body: object) =>
      await answer(await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })),
    /** Reads the events of a run into a list until the stream ends. */
    events: async (run: string, into: Sent[], lastId?: string): Promise<void> => {
      const response = await fetch(`${url}/runs/${run}/events`, { headers: lastId === undefined ? {} : { 'last-event-id': lastId } });
      let text = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const parts = (text + chunk).split('\n\n');
        text = parts.pop() ?? '';
        into.push(...parts.map(parseEvent));
      }
    },
  };
}

function parseEvent(text: string): Sent {
  const fields = Object.fromEntries(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
  const { id, event = '', data = '{}' } = fields;
  return { ...(id === undefined ? {} : { id }), event, data: JSON.parse(data) };
}

function typeOf({ event }: Sent['data']): unknown {
  return typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
}

/** The text that came as tokens. */
function streamed(sent: readonly Sent[]): string {
  const tokens = sent.filter(({ event }) => event === 'stream').map(({ data }) => data['event'] as { type: string; text?: string });
  return tokens.map(({ text = '' }) => text).join('');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
