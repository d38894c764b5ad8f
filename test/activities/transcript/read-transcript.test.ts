import { describe, expect, it } from 'vitest';
import { type ReadTranscriptOptions, readTranscript, type TranscriptQuery } from '../../../src/activities/transcript/read-transcript.js';
import { TranscriptCache } from '../../../src/activities/transcript/transcript-cache.js';
import type { TranscriptRef } from '../../../src/contracts/activities.js';
import { EMPTY_CHAIN, extendChain, hashMessage } from '../../../src/contracts/digest.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { Transcript } from '../../../src/workflows/state/transcript.js';

const PLACE = { runId: 'r', executionId: 'e' };

describe('readTranscript', () => {
  it('a worker that has everything cached asks nothing', async () => {
    const { transcript, options, queries } = scene();
    talk(transcript, options.cache, 3);
    await read(transcript, options);
    transcript.advance();
    talk(transcript, options.cache, 2);
    queries.length = 0;
    expect(await read(transcript, options)).toEqual(transcript.messages);
    expect(queries).toEqual([]);
  });

  it('a worker with an empty cache pages all of it and comes to the same messages', async () => {
    const { transcript, options, queries } = scene();
    talk(transcript, new TranscriptCache(1e6), 40);
    expect(await read(transcript, options)).toEqual(transcript.messages);
    expect(queries.length).toBeGreaterThan(0);
  });

  it('a cache too small for the transcript costs queries and nothing else', async () => {
    const { transcript, options } = scene({ bytesMax: 2_000 });
    talk(transcript, options.cache, 30);
    expect(await read(transcript, options)).toEqual(transcript.messages);
    expect(options.cache.bytes).toBeLessThanOrEqual(2_000);
  });

  it('two workers that take turns each page only what they have not seen', async () => {
    const { transcript, options: first, queries } = scene();
    const second: ReadTranscriptOptions = { ...first, cache: new TranscriptCache(1e6) };
    for (let turn = 0; turn < 10; turn += 1) {
      const mine = turn % 2 === 0 ? first : second;
      expect(await read(transcript, mine)).toEqual(transcript.messages);
      transcript.advance();
      talk(transcript, mine.cache, 2);
    }
    const paged = queries.reduce((sum, query) => sum + query.count, 0);
    expect(paged).toBeLessThan(60);
  });

  it('an answer of an attempt whose result came too late is not in the transcript', async () => {
    const { transcript, options } = scene();
    talk(transcript, options.cache, 1);
    const late = message(99);
    options.cache.keepMessage(hashMessage(late), late);
    talk(transcript, options.cache, 1);
    expect(await read(transcript, options)).toEqual(transcript.messages);
  });

  it('a query that fails for a while is tried again', async () => {
    const { transcript, options } = scene();
    talk(transcript, new TranscriptCache(1e6), 5);
    let failures = 3;
    const flaky: TranscriptQuery = (ref, request) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new Error('no worker')) : options.query(ref, request);
    };
    expect(await read(transcript, { ...options, query: flaky })).toEqual(transcript.messages);
  });

  it('a query that fails for too long is Transcript.Unavailable', async () => {
    const { transcript, options } = scene();
    talk(transcript, new TranscriptCache(1e6), 1);
    const dead: ReadTranscriptOptions = { ...options, queryMsMax: 50, query: () => Promise.reject(new Error('no worker')) };
    await expect(read(transcript, dead)).rejects.toMatchObject({ type: 'Transcript.Unavailable', nonRetryable: true });
  });

  it('a transcript that is not the one referred to is Transcript.Moved', async () => {
    const { transcript, options } = scene();
    talk(transcript, new TranscriptCache(1e6), 4);
    const ref: TranscriptRef = { ...PLACE, ...transcript.reference(), digest: 'another' };
    await expect(readTranscript(ref, options)).rejects.toMatchObject({ type: 'Transcript.Moved', nonRetryable: true });
  });

  it('digest(n) = sha256(digest(n-1) + hash(n)), whatever the order of keys', () => {
    const one: Message = { id: 'a', role: 'user', parts: [{ type: 'text', text: 'x' }] };
    const same: Message = { parts: [{ text: 'x', type: 'text' }], role: 'user', id: 'a' };
    expect(hashMessage(one)).toBe(hashMessage(same));
    expect(extendChain(EMPTY_CHAIN, hashMessage(one))).toEqual({ length: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/u) });
  });
});

function scene({ bytesMax = 1_000_000 } = {}) {
  const transcript = new Transcript();
  const queries: { from: number; count: number }[] = [];
  const query: TranscriptQuery = (_, request) => {
    const page = transcript.page({ ...request, bytesMax: 1_000 });
    queries.push({ from: request.from, count: page.messages.length });
    return Promise.resolve(page);
  };
  const options: ReadTranscriptOptions = { cache: new TranscriptCache(bytesMax), query, signal: new AbortController().signal };
  return { transcript, options, queries };
}

let count = 0;

function message(n: number): Message {
  return { id: `m${n}`, role: n % 2 === 0 ? 'user' : 'assistant', parts: [{ type: 'text', text: `message ${n} ${'x'.repeat(100)}` }] };
}

/** Messages as activities return them: hash in the transcript, message in the cache of the worker that made it. */
function talk(transcript: Transcript, cache: TranscriptCache, messages: number): void {
  for (let n = 0; n < messages; n += 1) {
    count += 1;
    const made = message(count);
    cache.keepMessage(hashMessage(made), made);
    transcript.appendReturned(made, hashMessage(made));
  }
}

function read(transcript: Transcript, options: ReadTranscriptOptions): Promise<Message[]> {
  return readTranscript({ ...PLACE, ...transcript.reference() }, options);
}
