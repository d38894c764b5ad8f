import { deepStrictEqual as deepEqual } from 'node:assert/strict';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../../src/activities/providers/anthropic.js';
import { ModelError } from '../../../src/activities/providers/model-error.js';
import type { ModelAnswer } from '../../../src/activities/providers/provider.js';
import { type RawServer, startRawServer, streamOf } from './support/raw-server.js';
import { modelRequest, WIRES } from './support/wire.js';

const SCRIPT = {
  text: 'I read é.',
  calls: [
    { id: 'c1', name: 'read_file', pieces: ['{"path":"a.md"', ',"lines":12}'] },
    { id: 'c2', name: 'read_file', pieces: ['{"path":"b.md"}'] },
  ],
};
/** Requests at once: each waits for a connection of its own. */
const BATCH = 16;
const CUT = /^Model\.(StreamTruncated|EmptyStream)$/u;

describe.each(WIRES)('a stream of $name that is cut', (wire) => {
  const events = wire.events(SCRIPT);
  const whole = Buffer.from(events.join(''));
  // the blank line after the terminal event is not needed to read it
  const terminal = events.length - wire.tailEvents;
  const completeFrom = Buffer.byteLength(events.slice(0, terminal + 1).join('')) - '\n\n'.length;
  let server: RawServer;
  let complete: ModelAnswer;
  beforeAll(async () => {
    server = await startRawServer(streamOf(whole));
    complete = await call();
  });
  afterAll(() => server.close());

  const call = (model = 'test-model') => wire.provider(server.url).call(modelRequest({ model }));

  /** Throws what is neither the error of a cut nor the answer whole, but for its usage: half a call, for one. */
  async function outcome(model?: string): Promise<'cut' | 'complete'> {
    let answer: ModelAnswer;
    try {
      answer = await call(model);
    } catch (error) {
      if (error instanceof ModelError && CUT.test(error.type)) return 'cut';
      throw error;
    }
    deepEqual({ ...answer, usage: complete.usage }, complete);
    return 'complete';
  }

  it('by a clean end at any byte is a cut answer until its terminal event is whole, and the whole answer from there on', async () => {
    server.answerWith((response, request) => {
      const { model } = JSON.parse(request.body) as { model: string };
      return streamOf(whole.subarray(0, Number(model)))(response, request);
    });
    const outcomes: string[] = [];
    while (outcomes.length <= whole.length) {
      const batch = Math.min(BATCH, whole.length + 1 - outcomes.length);
      const lengths = Array.from({ length: batch }, (_, index) => outcomes.length + index);
      outcomes.push(...(await Promise.all(lengths.map((length) => outcome(String(length))))));
    }
    expect(outcomes.indexOf('complete')).toBe(completeFrom);
    expect(outcomes.lastIndexOf('cut')).toBe(completeFrom - 1);
  });

  it('by a reset is a cut answer, or the whole one once its terminal event came', async () => {
    for (let length = 0; length <= whole.length; length += 41) {
      server.answerWith(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await new Promise((sent) => response.write(whole.subarray(0, length), sent));
        response.socket?.resetAndDestroy();
      });
      // a reset may take bytes with it that were sent before: only that nothing is complete too early is sure
      expect(['cut', length >= completeFrom ? 'complete' : 'cut']).toContain(await outcome());
    }
  });

  it('after an event, by an end or by a lost connection, counts only when that event was the terminal one', async () => {
    const outcomes = { end: [] as string[], close: [] as string[] };
    for (const [index] of events.entries()) {
      const sent = events.slice(0, index + 1).join('');
      server.answerWith(streamOf(sent));
      outcomes.end.push(await outcome());
      server.answerWith(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await new Promise((done) => response.write(sent, done));
        response.destroy();
      });
      outcomes.close.push(await outcome());
    }
    const expected = events.map((_, index) => (index < terminal ? 'cut' : 'complete'));
    expect(outcomes.end).toEqual(expected);
    expect(outcomes.close.slice(0, terminal)).toEqual(expected.slice(0, terminal));
  });

  it('before its headers is a cut answer too, not an unreachable server', async () => {
    server.answerWith((response) => void response.socket?.resetAndDestroy());
    await expect(call()).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  });

  it('keeps the answer when the server holds the connection open after the terminal event', async () => {
    server.answerWith(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await new Promise((sent) => response.write(whole, sent));
    });
    // the idle time passes: the answer was complete before
    await expect(wire.provider(server.url).call(modelRequest({ idleMs: 200 }))).resolves.toEqual(complete);
  });
});

it('a messages stream without message_stop is complete for a provider that says it never sends one, and only then', async () => {
  const messages = WIRES.find((wire) => wire.name === 'messages');
  const events = messages?.events(SCRIPT).slice(0, -1) ?? [];
  const server = await startRawServer(streamOf(...events));
  try {
    const settings = { baseUrl: server.url, apiKey: 'none' };
    const lenient = createAnthropicProvider({ ...settings, quirks: { strictTerminal: false } });
    await expect(lenient.call(modelRequest())).resolves.toMatchObject({ stop: 'tool_calls' });
    await expect(createAnthropicProvider(settings).call(modelRequest())).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
    server.answerWith(streamOf(...events.slice(0, -1)));
    await expect(lenient.call(modelRequest())).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  } finally {
    await server.close();
  }
});
