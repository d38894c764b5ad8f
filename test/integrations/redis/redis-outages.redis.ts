import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { STREAM_LIMITS } from '../../../src/contracts/constants/limits.js';
import { RedisStreamSink, RedisStreamSource } from '../../../src/streams/index.js';
import { attempt, readAll, readUntil, shown, text } from '../../streams/support/stream-events.js';
import type { PairUnderTest } from '../../streams/support/stream-pair-claims.js';
import { builtCli } from '../../support/built-package.js';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/use-workers.js';
import { type RedisServer, startRedisServer } from './support/redis-server.js';

const RUN = 'run-1';
const LATER = { epoch: 2_000 };
const sinks: RedisStreamSink[] = [];

describe('a server that fails', () => {
  let own: RedisServer;
  let pair: PairUnderTest;
  let errors: Error[];
  const opened: RedisServer[] = [];
  const open = async (isDurable = true): Promise<void> => {
    own = await startRedisServer({ isDurable });
    opened.push(own);
    errors = [];
    const keyPrefix = `${randomUUID()}:`;
    const onError = (error: Error): void => void errors.push(error);
    pair = {
      sink: () => sinkAt({ url: own.url, keyPrefix, onError }),
      source: () => new RedisStreamSource({ url: own.url, keyPrefix }),
    };
  };
  afterEach(async () => {
    for (const sink of sinks.splice(0)) sink.close();
    await Promise.all(opened.splice(0).map((one) => one.stop()));
  });

  test('killed and started again: a watcher goes on where it was, and what was published meanwhile arrives', async () => {
    await open();
    const sink = pair.sink();
    const words = Array.from({ length: 60 }, (_, index) => `word ${index} `);
    let read = 0;
    const seen = readUntil(pair.source(), (events) => {
      read = events.length;
      return shown(events).endsWith('<end>');
    });
    for (const [index, event] of attempt(words).entries()) {
      sink.publish(event);
      if (index % 10 === 0) await sink.flush(RUN);
      if (index === 20) await until(() => read > 2);
      if (index === 20) await own.signal('SIGKILL');
      if (index === 40) await own.restart();
    }
    expect(shown(await seen)).toBe(`<reset>${words.join('')}<end>`);
    expect(errors).toHaveLength(1);
  });

  test('killed without its data: what it lost is a gap, and the next attempt is whole', async () => {
    await open(false);
    const sink = pair.sink();
    const [first, ...rest] = attempt(['lost ', 'after']);
    for (const event of [first, rest[0]]) if (event) sink.publish(event);
    await sink.flush(RUN);
    // a flush of a busy server may end before its write
    await readUntil(pair.source(), (seen) => shown(seen).includes('lost'));
    await own.signal('SIGKILL');
    await own.restart();
    for (const event of rest.slice(1)) sink.publish(event);
    for (const event of attempt(['whole'], LATER)) sink.publish(event);
    const events = await readUntil(pair.source(), (seen) => shown(seen).endsWith('whole<end>'));
    expect(shown(events)).toBe('<reset><gap>after<end><reset>whole<end>');
  });

  test('not there at all: publishing and flushing cost no time and a bounded memory, and one report', async () => {
    errors = [];
    const url = `redis://127.0.0.1:${await freePort()}`;
    const sink = sinkAt({ url, onError: (error) => errors.push(error) });
    await sink.connect();
    const piece = 'x'.repeat(10_000);
    const flushes: Promise<void>[] = [];
    for (let run = 0; run < 100; run += 1)
      for (let seq = 1; seq < 200; seq += 1) {
        sink.publish(text(seq, piece, { runId: `run-${run}` }));
        if (seq % 50 === 0) flushes.push(sink.flush(`run-${run}`));
      }
    await Promise.all(flushes);
    expect(sink.bufferedBytes).toBeLessThan(STREAM_LIMITS.sinkBytesMax + piece.length + 1_000);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('ECONNREFUSED')]);
    expect(await readAll(new RedisStreamSource({ url }))).toEqual([]);
  });

  test('a process that has published ends by itself', async () => {
    await open();
    await publishAndEnd(own.url);
    expect(shown(await readAll(new RedisStreamSource({ url: own.url })))).toBe('<reset>last words');
  });

  test.each(['SIGSTOP', 'SIGKILL'] as const)('a process that has published ends by itself, though its server got %s', async (signal) => {
    await open();
    await own.signal(signal);
    await expect(publishAndEnd(own.url)).resolves.toMatchObject({ stderr: '' });
  });

  test('stopped while it has a connection: a flush ends all the same, and once it goes on, all text arrives once', async () => {
    await open();
    const sink = pair.sink();
    const watched = pair.source();
    const seen = readUntil(watched, (events) => shown(events).endsWith('<end>'));
    const [reset, ...rest] = attempt(['before ', 'while ', 'it ', 'stands']);
    if (reset) sink.publish(reset);
    await sink.flush(RUN);
    await own.signal('SIGSTOP');
    for (const event of rest) {
      sink.publish(event);
      await sink.flush(RUN);
    }
    // long enough for the connections to be given up and opened again, so that the server gets both copies
    await until(() => errors.length > 0, 'the report');
    await delay(500);
    await own.signal('SIGCONT');
    expect(shown(await seen)).toBe('<reset>before while it stands<end>');
  });
});

function sinkAt(options: ConstructorParameters<typeof RedisStreamSink>[0]): RedisStreamSink {
  const sink = new RedisStreamSink(options);
  sinks.push(sink);
  return sink;
}

/** Runs a process that publishes, and fails unless it ends with 0. */
async function publishAndEnd(url: string): Promise<{ readonly stderr: string }> {
  builtCli(); // the script uses the package's door, which leads to the build
  const script = fileURLToPath(new URL('scripts/publish-and-end.mjs', import.meta.url));
  return await promisify(execFile)(process.execPath, [script, url], { timeout: 100_000 });
}
