import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ModelFailureType } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer } from '../../../src/providers/contract/provider.js';
import { modelErrorOf } from '../support/model-error-of.js';
import { type RawHandler, type RawServer, startRawServer, statusOf, streamOf } from '../support/raw-server.js';
import { modelRequest, WIRES, type Wire } from '../support/wire.js';

interface Row {
  readonly status: number;
  readonly error?: { readonly message: string; readonly type?: string; readonly code?: string };
  readonly type: ModelFailureType;
}

const STATUS_ROWS: readonly Row[] = [
  { status: 400, error: { message: 'Unknown parameter: x', type: 'invalid_request_error' }, type: 'Model.BadRequest' },
  { status: 401, error: { message: 'bad key', type: 'authentication_error' }, type: 'Model.Auth' },
  { status: 402, error: { message: 'pay first' }, type: 'Model.Quota' },
  { status: 403, error: { message: 'not yours', type: 'permission_error' }, type: 'Model.Auth' },
  { status: 404, error: { message: 'no such model', code: 'model_not_found' }, type: 'Model.NotFound' },
  { status: 404, error: { message: 'model: x-1', type: 'not_found_error' }, type: 'Model.NotFound' },
  { status: 404, type: 'Model.NotFound' },
  { status: 400, error: { message: 'x-1 is no longer offered', code: 'model_decommissioned' }, type: 'Model.NotFound' },
  { status: 408, type: 'Model.Timeout' },
  { status: 409, type: 'Model.Overloaded' },
  { status: 413, error: { message: 'too large', type: 'request_too_large' }, type: 'Model.ContextOverflow' },
  { status: 422, type: 'Model.BadRequest' },
  { status: 429, error: { message: 'slow down', type: 'rate_limit_error' }, type: 'Model.RateLimited' },
  { status: 429, error: { message: 'maximum context length is 5 in this tier', type: 'tokens' }, type: 'Model.RateLimited' },
  { status: 429, error: { message: 'spent', code: 'insufficient_quota' }, type: 'Model.Quota' },
  { status: 400, error: { message: 'Your credit balance is too low', type: 'billing_error' }, type: 'Model.Quota' },
  { status: 400, error: { message: 'no', code: 'content_policy_violation' }, type: 'Model.ContentFilter' },
  { status: 500, type: 'Model.Overloaded' },
  { status: 500, error: { message: 'Failed to parse the answer of a backend' }, type: 'Model.Overloaded' },
  { status: 502, type: 'Model.Overloaded' },
  { status: 503, type: 'Model.Overloaded' },
  { status: 504, type: 'Model.Timeout' },
  { status: 529, error: { message: 'Overloaded', type: 'overloaded_error' }, type: 'Model.Overloaded' },
];

const STREAM_ROWS: readonly (readonly [Readonly<Record<string, unknown>>, ModelFailureType])[] = [
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'Model.Overloaded'],
  [{ type: 'api_error', message: 'Internal' }, 'Model.Overloaded'],
  [{ type: 'rate_limit_error', message: 'slow' }, 'Model.RateLimited'],
  [{ type: 'authentication_error', message: 'gone' }, 'Model.Auth'],
  [{ type: 'invalid_request_error', message: 'bad' }, 'Model.BadRequest'],
  [{ type: 'timeout_error', message: 'late' }, 'Model.Timeout'],
  [{ type: 'invalid_request_error', message: 'prompt is too long: 3 tokens > 2 maximum' }, 'Model.ContextOverflow'],
  [{ code: 'insufficient_quota', message: 'spent' }, 'Model.Quota'],
  [{ code: 429, message: 'a gateway that gives the status as its code' }, 'Model.RateLimited'],
  [{ type: 'something_new', message: 'what?' }, 'Model.Overloaded'],
];

const SILENT_REFUSAL: RawHandler = (response) => void response.writeHead(500, { 'content-type': 'application/json' }).write('{"err');

describe.each(WIRES)('a failure over $name', (wire) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const failureOf = (handler: RawHandler, silentMs?: number) => modelErrorOf(wire, server, { handler, silentMs });

  it.each(STATUS_ROWS)('with status $status and $error is $type, after one request', async ({ status, error, type }) => {
    const failure = await failureOf(statusOf(status, error ? wire.errorBody({ ...error }) : ''));
    expect(failure).toMatchObject({ type, status, message: expect.stringContaining(error?.message ?? '') });
  });

  it.each(STREAM_ROWS)('told within the stream as %j is %s', async (error, type) => {
    const [start = ''] = wire.events({ text: 'Hi.' });
    const failure = await failureOf(streamOf(start, wire.errorEvent(error)));
    expect(failure.type).toBe(type);
    expect(failure.message).toContain(error['message']);
  });

  it.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'retry-after': '86400' }, 86_400_000],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after-ms': '' }, undefined],
    [{}, undefined],
  ])('with %j asks to wait %s ms', async (headers, retryAfterMs) => {
    expect((await failureOf(statusOf(429, wire.errorBody({ message: 'slow down' }), headers))).retryAfterMs).toBe(retryAfterMs);
  });

  it('with a date ahead asks to wait until then', async () => {
    const date = new Date(Date.now() + 40_000).toUTCString();
    const { retryAfterMs } = await failureOf(statusOf(503, '', { 'retry-after': date }));
    expect(retryAfterMs).toBeGreaterThan(20_000);
    expect(retryAfterMs).toBeLessThanOrEqual(40_000);
  });

  it.each([
    ['text/html', '<html>Welcome</html>', 'Model.BadResponse'],
    ['application/json', '{"choices":[]}', 'Model.BadResponse'],
    ['application/json', '{"error":{"type":"rate_limit_error","message":"slow"}}', 'Model.RateLimited'],
    ['text/html', '', 'Model.EmptyStream'],
    ['text/event-stream', '', 'Model.EmptyStream'],
    ['text/event-stream', ': only a comment\n\n', 'Model.EmptyStream'],
  ])('with status 200, %s and %j is a failure, and no empty answer', async (contentType, body, type) => {
    const failure = await failureOf((response) => {
      response.writeHead(200, { 'content-type': contentType });
      response.end(body);
    });
    expect(failure.type).toBe(type);
  });

  it('told with status 200 in place of a stream asks to wait as long as its header says', async () => {
    const failure = await failureOf(statusOf(200, { error: { type: 'rate_limit_error', message: 'slow' } }, { 'retry-after': '7' }));
    expect(failure).toMatchObject({ type: 'Model.RateLimited', retryAfterMs: 7_000 });
  });

  it.each([429, 200])('with status %i whose body trickles is told with what came of it, and not waited for', async (status) => {
    // the time passes with the pieces, however long a busy machine takes for them
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const startedAt = Date.now();
    server.answerWith((response) => {
      response.writeHead(status, { 'content-type': 'text/plain', 'retry-after': '3' });
      const timer = setInterval(() => {
        response.write('.');
        if (vi.isFakeTimers()) vi.advanceTimersByTime(200);
      }, 5);
      response.once('close', () => clearInterval(timer));
    });
    await expect(wire.provider(server.url).call(modelRequest({ idleMs: 5_000 }))).rejects.toMatchObject({
      type: status === 200 ? 'Model.BadResponse' : 'Model.RateLimited',
    });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  it('with a status whose body is cut is what the status says', async () => {
    const failure = await failureOf((response) => {
      response.writeHead(401, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"error":', () => response.socket?.resetAndDestroy());
    });
    expect(failure).toMatchObject({ type: 'Model.Auth', status: 401 });
  });

  it('by an event that is no JSON is Model.BadResponse, without a word of it in the error', async () => {
    const [start = ''] = wire.events({ text: 'Hi.' });
    const failure = await failureOf(streamOf(start, 'event: message_delta\ndata: secret words {\n\n', start));
    expect(failure.type).toBe('Model.BadResponse');
    expect(inspect(failure, { depth: 9 })).not.toContain('secret');
  });

  it('by an event of an unknown shape is Model.BadResponse', async () => {
    const bad = wire.name === 'messages' ? 'event: content_block_start\ndata: {"type":"content_block_start"}\n\n' : 'data: null\n\n';
    expect((await failureOf(streamOf(bad))).type).toBe('Model.BadResponse');
  });

  it('by a server of another protocol is Model.BadResponse', async () => {
    const other = createServer((socket) => socket.end('SSH-2.0-other\r\n'));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    try {
      const address = other.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      const call = wire.provider(`http://127.0.0.1:${port}`).call(modelRequest());
      await expect(call).rejects.toMatchObject({ type: 'Model.BadResponse' });
    } finally {
      other.close();
    }
  });

  it('by a port where nobody listens, or a host that does not exist, is Model.Unreachable and says which', async () => {
    const gone = await startRawServer();
    await gone.close();
    await expect(wire.provider(gone.url).call(modelRequest())).rejects.toMatchObject({
      type: 'Model.Unreachable',
      message: expect.stringContaining(new URL(gone.url).port),
    });
    await expect(wire.provider('http://model.invalid').call(modelRequest())).rejects.toMatchObject({
      type: 'Model.Unreachable',
      message: expect.stringContaining('model.invalid'),
    });
  });

  it('by silence, before the headers or within the body, is Model.StreamIdle', async () => {
    expect((await failureOf(() => undefined, 80)).type).toBe('Model.StreamIdle');
    const [start = ''] = wire.events({ text: 'Hi.' });
    const silent: RawHandler = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(start);
    };
    expect((await failureOf(silent, 80)).type).toBe('Model.StreamIdle');
    expect((await failureOf(SILENT_REFUSAL, 80)).type).toBe('Model.StreamIdle');
  });

  it('by silence does not come while pings do', async () => {
    const idleMs = 400;
    const events = wire.events({ text: 'Late but whole.' });
    server.answerWith(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events[0]);
      const started = Date.now();
      await new Promise<void>((enough) => {
        const timer = setInterval(() => {
          response.write(wire.ping);
          if (Date.now() - started < 3 * idleMs) return;
          clearInterval(timer);
          enough();
        }, 20);
      });
      response.end(events.slice(1).join(''));
    });
    await expect(wire.provider(server.url).call(modelRequest({ idleMs }))).resolves.toMatchObject({
      parts: [{ text: 'Late but whole.' }],
    });
  });

  it.each(['before the headers', 'within the stream', 'after the terminal event'])(
    'by an abort %s is the reason of the signal, and the connection is closed',
    async (when) => {
      const abort = new AbortController();
      const reason = new Error('a user said so');
      const events = wire.events({ text: 'Hi.' });
      const closed = new Promise<void>((done) => {
        server.answerWith((response) => {
          response.once('close', done);
          if (when !== 'before the headers') {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write(when === 'within the stream' ? events[0] : events.join(''));
          }
          setImmediate(() => abort.abort(reason));
        });
      });
      await expect(wire.provider(server.url).call(modelRequest({ signal: abort.signal }))).rejects.toBe(reason);
      await closed;
    },
  );

  it('by a signal that was aborted before sends nothing', async () => {
    const before = server.requests.length;
    const reason = new Error('too late');
    await expect(wire.provider(server.url).call(modelRequest({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(before);
  });
});

// they take their idle time, which is long for a busy machine: so they run together, each with a server of its own
it.concurrent.each(WIRES)(
  'a failure over $name does not come because a server holds the stream of a whole answer open, with pings or in silence',
  async (wire) => {
    const answers = await Promise.all([wire.ping, undefined].map((ping) => answerHeldOpen(wire, ping)));
    expect(answers).toMatchObject(Array.from({ length: 2 }, () => ({ parts: [{ text: 'All said.' }] })));
  },
);

/** The answer of a server that sends it whole, and never ends its stream. */
async function answerHeldOpen(wire: Wire, ping: string | undefined): Promise<ModelAnswer> {
  const events = wire.events({ text: 'All said.' }).filter((event) => !event.includes('[DONE]'));
  const server = await startRawServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.join(''));
    if (ping === undefined) return;
    const pings = setInterval(() => response.write(ping), 20);
    response.once('close', () => clearInterval(pings));
  });
  try {
    return await wire.provider(server.url).call(modelRequest({ idleMs: 2_000 }));
  } finally {
    await server.close();
  }
}
