import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RedisServer as Server } from '../../../src/streams/index.js';
import { RedisStreamSink, RedisStreamSource } from '../../../src/streams/index.js';
import { attempt, other, readAll, readUntil, shown, text } from '../../streams/support/stream-events.js';
import { claimsOfStreamPairs } from '../../streams/support/stream-pair-claims.js';
import { until } from '../../support/use-workers.js';
import { type RedisServer, startRedisServer } from './support/redis-server.js';

const RUN = 'run-1';
const LATER = { epoch: 2_000 };

let server: RedisServer;
const sinks: RedisStreamSink[] = [];
beforeAll(async () => {
  server = await startRedisServer({ password: 'pass/wörd 1' });
});
afterEach(() => {
  for (const sink of sinks.splice(0)) sink.close();
});
afterAll(() => server.stop());

type SinkOptions = Partial<ConstructorParameters<typeof RedisStreamSink>[0]>;

function sinkAt(where: Server, options: SinkOptions = {}): RedisStreamSink {
  const sink = new RedisStreamSink({ ...options, ...where } as ConstructorParameters<typeof RedisStreamSink>[0]);
  sinks.push(sink);
  return sink;
}

describe('token streams in Redis, by a URL', () => {
  claimsOfStreamPairs(() => Promise.resolve(pairAt({ url: server.url })));
});

describe('token streams in Redis, by a client of the package redis', () => {
  const clients: { destroy(): void }[] = [];
  afterAll(() => {
    for (const client of clients) client.destroy();
  });
  claimsOfStreamPairs(async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    clients.push(client);
    return pairAt({ client });
  });
});

describe('token streams in Redis, by a client of the package ioredis', () => {
  const clients: Redis[] = [];
  afterAll(() => {
    for (const client of clients) client.disconnect();
  });
  claimsOfStreamPairs(() => {
    const client = new Redis(server.port, { password: 'pass/wörd 1' });
    clients.push(client);
    return Promise.resolve(pairAt({ client }));
  });
});

function pairAt(where: Server) {
  const keyPrefix = `${randomUUID()}:`;
  return { sink: () => sinkAt(where, { keyPrefix }), source: () => new RedisStreamSource({ ...where, keyPrefix }) };
}

describe('what is kept', () => {
  test('a stream is trimmed to about its number of entries, and a watcher that comes late sees that its beginning is missing', async () => {
    const keyPrefix = `${randomUUID()}:`;
    const sink = sinkAt({ url: server.url }, { keyPrefix, entriesMax: 100 });
    sink.publish(other(1, 'reset'));
    for (let seq = 2; seq <= 2_000; seq += 1) sink.publish({ ...text(seq, ''), type: 'tool_call', name: String(seq) });
    await sink.flush(RUN);
    expect(await server.command('XLEN', `${keyPrefix}${RUN}`)).toBeLessThan(300);
    const events = await readAll(new RedisStreamSource({ url: server.url, keyPrefix }));
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual(['reset', 'gap', 'tool_call']);
    expect(events.at(-1)).toMatchObject({ seq: 2_000 });
  });

  test('a stream lives for its time after the last token', async () => {
    const keyPrefix = `${randomUUID()}:`;
    const sink = sinkAt({ url: server.url }, { keyPrefix, ttlMs: 100_000 });
    for (const epoch of [1_000, 2_000]) {
      for (const event of attempt(['a'], { epoch })) sink.publish(event);
      await sink.flush(RUN);
      expect(await server.command('PTTL', `${keyPrefix}${RUN}`)).toBeGreaterThan(90_000);
      await server.command('PEXPIRE', `${keyPrefix}${RUN}`, '5000');
    }
    await server.command('PEXPIRE', `${keyPrefix}${RUN}`, '1');
    await until(async () => (await server.command('EXISTS', `${keyPrefix}${RUN}`)) === 0);
    expect(await readAll(new RedisStreamSource({ url: server.url, keyPrefix }))).toEqual([]);
  });

  test('a watcher goes on when its stream was deleted and begins again', async () => {
    const keyPrefix = `${randomUUID()}:`;
    const sink = sinkAt({ url: server.url }, { keyPrefix });
    const source = new RedisStreamSource({ url: server.url, keyPrefix });
    const seen = readUntil(source, (events) => shown(events).endsWith('two<end>'));
    for (const event of attempt(['one'])) sink.publish(event);
    await sink.flush(RUN);
    await server.command('DEL', `${keyPrefix}${RUN}`);
    for (const event of attempt(['two'], LATER)) sink.publish(event);
    await sink.flush(RUN);
    expect(shown(await seen)).toMatch(/<reset>two<end>$/u);
  });
});

describe('connections', () => {
  test('all watchers of a source share one, which is closed after the last of them', async () => {
    const keyPrefix = `${randomUUID()}:`;
    const before = await connections();
    const source = new RedisStreamSource({ url: server.url, keyPrefix });
    const ids = Array.from({ length: 50 }, (_, index) => `run-${index}`);
    const watching = ids.map((runId) => readUntil(source, (events) => shown(events).endsWith('<end>'), { runId }));
    await until(async () => (await connections()) === before + 1, 'one connection');
    const sink = sinkAt({ url: server.url }, { keyPrefix });
    for (const runId of ids) for (const event of attempt([runId], { runId })) sink.publish(event);
    await Promise.all(ids.map((runId) => sink.flush(runId)));
    expect((await Promise.all(watching)).map(shown)).toEqual(ids.map((id) => `<reset>${id}<end>`));
    await until(async () => (await connections()) === before + 1, 'the connection of the sink alone');
    sink.close();
    await until(async () => (await connections()) === before, 'no connection');
  });

  test('a watcher that is slow holds up nobody, and misses nothing', async () => {
    const keyPrefix = `${randomUUID()}:`;
    const source = new RedisStreamSource({ url: server.url, keyPrefix });
    const sink = sinkAt({ url: server.url }, { keyPrefix });
    const stop = new AbortController();
    const slow = source.read(RUN, stop.signal)[Symbol.asyncIterator]();
    sink.publish(other(1, 'reset'));
    await sink.flush(RUN);
    await slow.next();
    for (let seq = 2; seq <= 5_000; seq += 1) sink.publish({ ...text(seq, ''), type: 'tool_call', name: String(seq) });
    await sink.flush(RUN);
    expect(await readUntil(source, (events) => events.length === 5_000)).toHaveLength(5_000);
    for (let seq = 2; seq <= 5_000; seq += 1) expect((await slow.next()).value).toMatchObject({ seq });
    stop.abort();
    expect((await slow.next()).done).toBe(true);
  });

  test('a key of another type fails its watcher, and no other', async () => {
    const keyPrefix = `${randomUUID()}:`;
    await server.command('SET', `${keyPrefix}bad`, 'a string');
    const source = new RedisStreamSource({ url: server.url, keyPrefix });
    const good = readUntil(source, (events) => shown(events).endsWith('<end>'));
    await expect(readAll(source, { runId: 'bad' })).rejects.toThrow('WRONGTYPE');
    const errors: Error[] = [];
    const sink = sinkAt({ url: server.url }, { keyPrefix, onError: (error) => errors.push(error) });
    sink.publish(text(1, 'lost', { runId: 'bad' }));
    await sink.flush('bad');
    for (const event of attempt(['fine'])) sink.publish(event);
    await sink.flush(RUN);
    expect(shown(await good)).toBe('<reset>fine<end>');
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('WRONGTYPE')]);
  });

  test('a wrong address is an error of the constructor, which does not repeat it', () => {
    for (const url of ['http://user:secret@host', 'secret', 'redis//:secret@host'])
      for (const Either of [RedisStreamSink, RedisStreamSource])
        expect(() => new Either({ url })).toThrow(
          expect.objectContaining({ code: 'REDIS_URL', message: expect.not.stringContaining('secret') }),
        );
  });

  test('a refused password is reported once, without it, also in its encoded form', async () => {
    const errors: Error[] = [];
    const onError = (error: Error): void => void errors.push(error);
    const url = `redis://someone:wr%C3%B6ng%2Fsecret@127.0.0.1:${server.port}`;
    const sink = sinkAt({ url }, { onError });
    for (const event of attempt(['a'])) sink.publish(event);
    await sink.flush(RUN);
    await until(() => errors.length > 0);
    await readAll(new RedisStreamSource({ url, onError }));
    expect(errors).toHaveLength(2);
    const told = errors.map((error) => `${String(error)} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).join();
    expect(told).toContain(`Redis at 127.0.0.1:${server.port}: WRONGPASS`);
    for (const secret of ['wröng', 'wr%C3%B6ng', 'someone']) expect(told).not.toContain(secret);
  });
});

/** The open connections, without the one that asks. */
async function connections(): Promise<number> {
  const list = String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'));
  return list.trim().split('\n').length - 1;
}
