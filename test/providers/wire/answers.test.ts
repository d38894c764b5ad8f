import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import { aiSdkProvider } from '../support/ai-sdk-provider.js';
import { type RawServer, startRawServer, streamOf } from '../support/raw-server.js';
import { modelRequest, WIRES, type WireScript } from '../support/wire.js';

const USAGE = { inputTokens: 50, outputTokens: 7, cacheReadTokens: 30, reasoningTokens: 3 };
const READ_A = { id: 'call_1', name: 'read_file', pieces: ['{"path"', ':"a.md"}'] };
const READ_B = { id: 'call_2', name: 'read_file', pieces: ['{"path":"b.md"}'] };

describe.each(WIRES)('an answer over $name', (wire) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerTo = (script: WireScript, fields = {}) => {
    server.answerWith(streamOf(...wire.events(script)));
    return wire.provider(server.url).call(modelRequest(fields));
  };

  it('has thinking, text and calls in order, each shown as it streams, and its usage', async () => {
    const deltas: StreamDelta[] = [];
    const answer = await answerTo(
      { thinking: 'Two files.', text: 'I read both.', calls: [READ_A, READ_B] },
      { onDelta: (delta: StreamDelta) => deltas.push(delta) },
    );
    expect(answer.stop).toBe('tool_calls');
    expect(answer.usage).toMatchObject(USAGE);
    expect(answer.parts).toMatchObject([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'I read both.' },
      { type: 'tool_call', name: 'read_file', args: { path: 'a.md' } },
      { type: 'tool_call', name: 'read_file', args: { path: 'b.md' } },
    ]);
    expect(deltas).toEqual([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'I ' },
      { type: 'text', text: 'read ' },
      { type: 'text', text: 'both.' },
      { type: 'tool_call', name: 'read_file' },
      { type: 'tool_call', name: 'read_file' },
    ]);
  });

  it.each([
    ['end', 'end'],
    ['length', 'length'],
    ['refusal', 'refusal'],
  ] as const)('that stops for %s says so, and keeps its text', async (word, stop) => {
    await expect(answerTo({ text: 'So far.', stop: wire.stopWord[word] })).resolves.toMatchObject({ stop, parts: [{ text: 'So far.' }] });
  });

  it.each(['model_context_window_exceeded', 'max_tokens'])('cut for the reason %s is cut by its length', async (reason) => {
    await expect(answerTo({ text: 'So far.', stop: reason })).resolves.toMatchObject({ stop: 'length', parts: [{ text: 'So far.' }] });
  });

  it('B34: with a call that has no id has that call', async () => {
    const events = wire.events({ calls: [READ_A] }).map((event) => event.replace(/"(?:call_)?id":"(?:fc_)?call_1",/gu, ''));
    expect(events.join('')).not.toContain('"call_1"');
    server.answerWith(streamOf(...events));
    const { parts } = await wire.provider(server.url).call(modelRequest());
    expect(parts).toMatchObject([{ type: 'tool_call', name: 'read_file', args: { path: 'a.md' } }]);
  });

  it('cut by its length limit within a call comes with the text of that call, and no arguments', async () => {
    const half = { ...READ_A, pieces: ['{"path":"a.'] };
    const answer = await answerTo({ calls: [half], stop: wire.stopWord.length });
    expect(answer).toMatchObject({ stop: 'length', parts: [{ type: 'tool_call', args: {}, argsText: '{"path":"a.' }] });
  });

  it.each([[''], ['   ']])('with a call whose arguments are %j has empty arguments', async (text) => {
    const { parts } = await answerTo({ calls: [{ ...READ_A, pieces: [text] }] });
    expect(parts).toEqual([{ type: 'tool_call', callId: 'call_1', name: 'read_file', args: {} }]);
  });

  it.each([
    'null',
    '[]',
    '"x"',
    '1',
    'NaN',
    '{"a":1} and more',
    '{"a":1,"a":2}',
    '{"a":',
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  ])('with a call whose arguments are no usable object keeps them as they came (%#)', async (text) => {
    const { parts } = await answerTo({ calls: [{ ...READ_A, pieces: [text] }] });
    expect(parts).toEqual([{ type: 'tool_call', callId: 'call_1', name: 'read_file', args: {}, argsText: text }]);
  });

  it('is the same whatever the chunks, line ends and comments of its stream are', async () => {
    const script = { text: 'Größe 東京 👍 done.', calls: [READ_A] };
    const whole = wire.events(script).join('');
    const expected = await answerTo(script);
    const call = () => wire.provider(server.url).call(modelRequest());
    for (const text of [
      whole,
      whole.replaceAll('\n', '\r\n'),
      whole.replaceAll('\n', '\r'),
      `: hello\n\n${whole}`,
      whole.replaceAll(': ', ':'),
    ]) {
      server.answerWith(streamOf(text));
      await expect(call()).resolves.toEqual(expected);
    }
    const bytes = Buffer.from(whole);
    server.answerWith(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      for (const byte of bytes) await new Promise((sent) => response.write(Buffer.of(byte), sent));
      response.end();
    });
    await expect(call()).resolves.toEqual(expected);
  });

  it('may be one event of five megabytes', async () => {
    const text = 'x'.repeat(5_000_000);
    await expect(answerTo({ text })).resolves.toMatchObject({ parts: [{ text }] });
  });

  it('without end is refused once it is too large', async () => {
    server.answerWith(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const piece = `: ${'x'.repeat(65_536)}`;
      while (!response.destroyed) await new Promise((sent) => response.write(piece, sent));
    });
    await expect(wire.provider(server.url).call(modelRequest())).rejects.toMatchObject({ type: 'Model.BadResponse' });
  });

  it('M28: without usage, or with nonsense for it, has none', async () => {
    const events = wire.events({ text: 'Hi.' });
    for (const nonsense of ['-5', 'null', '"7"', '1e999', '"NaN"']) {
      server.answerWith(
        streamOf(...events.map((event) => event.replaceAll(/(completion_tokens|output_tokens)":\d+/gu, `$1":${nonsense}`))),
      );
      const answer = await wire.provider(server.url).call(modelRequest());
      expect(answer.parts).toEqual([{ type: 'text', text: 'Hi.' }]);
      expect(answer.usage).toBeUndefined();
    }
  });

  it('says how much of its input was pictures where the server counts them, with a number that can be', async () => {
    const events = wire.events({ text: 'Hi.' });
    const usageFor = async (count: string) => {
      server.answerWith(
        streamOf(...events.map((event) => event.replaceAll('"cached_tokens":30', `"cached_tokens":30,"image_tokens":${count}`))),
      );
      return (await wire.provider(server.url).call(modelRequest())).usage;
    };
    const counted = wire.name === 'messages' ? {} : { imageTokens: 12 };
    expect(await usageFor('12')).toEqual({ ...USAGE, cacheWriteTokens: expect.any(Number), ...counted });
    for (const nonsense of ['-5', 'null', '"7"', '1e999', '51']) expect(await usageFor(nonsense)).not.toHaveProperty('imageTokens');
  });

  it('carries the id that the server gave the request', async () => {
    server.answerWith((response, request) => {
      response.setHeader('request-id', 'req_7').setHeader('x-request-id', 'req_7');
      return streamOf(...wire.events({ text: 'Hi.' }))(response, request);
    });
    await expect(wire.provider(server.url).call(modelRequest())).resolves.toMatchObject({ requestId: 'req_7' });
  });

  it('is asked for once, with the tools, the output limit, and tool choice none when it must not call', async () => {
    const before = server.requests.length;
    await answerTo({ text: 'Done.' }, { toolChoice: 'none', outputTokensMax: 321 });
    const sent = server.requests.slice(before).map((request) => JSON.parse(request.body) as Record<string, unknown>);
    expect(sent).toMatchObject([{ model: 'test-model', stream: true, [wire.limitField]: 321 }]);
    expect(sent[0]?.['tools']).toHaveLength(1);
    expect(sent[0]?.['tool_choice']).toEqual(wire.name === 'messages' ? { type: 'none' } : 'none');
  });
});

/** The formats that say of an answer that it calls, each read here and by the package of the AI SDK; one has a single word for whatever is whole. */
const CALL_WORDS = WIRES.filter(({ stopWord }) => stopWord.calls !== stopWord.end).flatMap((wire) => [
  { wire, reader: 'our provider', providerAt: (url: string) => wire.provider(url) },
  { wire, reader: 'the AI SDK', providerAt: (url: string) => aiSdkProvider(wire.name, { url, apiKey: 'test-key-0123456789' }) },
]);

describe.each(CALL_WORDS)('an answer over $wire.name that ends in a call without having one, by $reader', ({ wire, providerAt }) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerTo = (script: WireScript) => {
    server.answerWith(streamOf(...wire.events({ ...script, stop: wire.stopWord.calls })));
    return providerAt(server.url).call(modelRequest());
  };

  it.each([{}, { thinking: 'I read it.' }, { text: ' \n' }])(
    'has lost it when it has no text either, and may come whole again: %j',
    async (script) => {
      await expect(answerTo(script)).rejects.toMatchObject({
        type: 'Model.BadResponse',
        message: 'the response reports a tool call and contains none',
      });
    },
  );

  it('is its text where it has one: there are servers that say so of every answer', async () => {
    await expect(answerTo({ text: 'All done.' })).resolves.toMatchObject({ stop: 'end', parts: [{ type: 'text', text: 'All done.' }] });
  });
});
