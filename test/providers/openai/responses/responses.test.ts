import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import type { ModelRequest, ProviderSettings, StreamDelta } from '../../../../src/providers/contract/provider.js';
import { createOpenAiResponsesProvider } from '../../../../src/providers/openai/responses/responses.js';
import { startWireServer } from '../../../../src/testing/wire-server.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { modelRequest } from '../../support/wire.js';

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.close());

type Event = { readonly type: string } & Record<string, unknown>;

function answerTo(events: readonly Event[], fields: Partial<ModelRequest> = {}, quirks: ProviderSettings['quirks'] = {}) {
  server.answerWith(streamOf(...events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)));
  return createOpenAiResponsesProvider({ baseUrl: `${server.url}/v1`, apiKey: 'test-key-0123456789', quirks }).call(modelRequest(fields));
}

const CREATED: Event = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } };
const CALL = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '' };
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };

function added(item: object, output_index = 0): Event {
  return { type: 'response.output_item.added', output_index, item };
}

function done(item: object, output_index = 0): Event {
  return { type: 'response.output_item.done', output_index, item };
}

function delta(kind: string, text: string, fields: object = { output_index: 0 }): Event {
  return { type: `response.${kind}.delta`, delta: text, ...fields };
}

function summaryPart(summary_index: number): Event {
  return { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index };
}

function completed(response: object = {}): Event {
  return { type: 'response.completed', response: { status: 'completed', output: [], ...response } };
}

function usage(output_tokens: number): object {
  return { usage: { input_tokens: 10, output_tokens } };
}

describe('a response that is called completed', () => {
  const said = [CREATED, added(MESSAGE), delta('output_text', 'So far')];

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'refusal'],
  ])('and says within that it is incomplete for %s was cut by it', async (reason, stop) => {
    const response = { status: 'incomplete', incomplete_details: { reason }, ...usage(40) };
    await expect(answerTo([...said, completed(response)])).resolves.toMatchObject({ stop, parts: [{ text: 'So far' }] });
  });

  it.each(['failed', 'cancelled'])('and says within that it is %s is a failure', async (status) => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    await expect(answerTo([...said, completed({ status, error })])).rejects.toMatchObject({ type: 'Model.RateLimited' });
  });

  const half = [CREATED, added(CALL), delta('function_call_arguments', '{"path":"a.')];
  const halfDone = [...half, done({ ...CALL, arguments: '{"path":"a.', status: 'completed' })];

  it('with a call that did not end is a cut answer', async () => {
    await expect(answerTo([...half, completed()])).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  });

  it('with half a call at its output limit was cut by it', async () => {
    const parts = [{ type: 'tool_call', args: {}, argsText: '{"path":"a.' }];
    await expect(answerTo([...half, completed(usage(1_000))])).resolves.toMatchObject({ stop: 'length', parts });
    await expect(answerTo([...halfDone, completed(usage(1_003))])).resolves.toMatchObject({ stop: 'length', parts });
  });

  it('with half a call below its output limit has a call that the model wrote so', async () => {
    await expect(answerTo([...halfDone, completed(usage(40))])).resolves.toMatchObject({ stop: 'tool_calls' });
  });

  it('with a whole call at its output limit has that call', async () => {
    const call = { ...CALL, arguments: '{"path":"a.md"}' };
    await expect(answerTo([CREATED, done(call), completed(usage(1_000))])).resolves.toMatchObject({
      stop: 'tool_calls',
      parts: [{ args: { path: 'a.md' } }],
    });
  });

  it('with a text up to the last token of its limit was cut by it, and with fewer it was not', async () => {
    const text = [CREATED, added(MESSAGE), delta('output_text', 'So far')];
    await expect(answerTo([...text, completed(usage(1_000))])).resolves.toMatchObject({ stop: 'length', parts: [{ text: 'So far' }] });
    await expect(answerTo([...text, completed(usage(999))])).resolves.toMatchObject({ stop: 'end' });
  });

  it('with an item that says it is incomplete was cut', async () => {
    const item = { ...MESSAGE, status: 'incomplete', content: [{ type: 'output_text', text: 'So far' }] };
    await expect(answerTo([CREATED, done(item), completed()])).resolves.toMatchObject({ stop: 'length' });
  });
});

describe('a response of another server', () => {
  it('may tell items by their ids alone', async () => {
    const call = { type: 'function_call', call_id: 'fc_9', name: 'read_file', arguments: '' };
    const events: Event[] = [
      { type: 'response.output_item.added', item: MESSAGE },
      delta('output_text', 'I read ', { item_id: 'msg_1' }),
      delta('output_text', 'it.', { item_id: 'msg_1' }),
      { type: 'response.output_item.done', item: { ...MESSAGE, content: [{ type: 'output_text', text: 'I read it.' }] } },
      { type: 'response.output_item.added', item: call },
      delta('function_call_arguments', '{"path":"a.md"}', { item_id: 'fc_9' }),
      { type: 'response.output_item.done', item: { ...call, arguments: '{"path":"a.md"}' } },
    ];
    await expect(answerTo([CREATED, ...events, completed()])).resolves.toMatchObject({
      stop: 'tool_calls',
      parts: [{ text: 'I read it.' }, { callId: 'fc_9', args: { path: 'a.md' } }],
    });
  });

  it('may change the id of an item with each event', async () => {
    const events = [
      added({ ...CALL, id: 'a' }),
      delta('function_call_arguments', '{"path"', { output_index: 0, item_id: 'b' }),
      delta('function_call_arguments', ':"a.md"}', { output_index: 0, item_id: 'c' }),
      done({ ...CALL, id: 'd', arguments: '{"path":"a.md"}' }),
    ];
    await expect(answerTo([CREATED, ...events, completed()])).resolves.toMatchObject({ parts: [{ args: { path: 'a.md' } }] });
  });

  it('may tell its items only at the end; watchers see them too', async () => {
    const deltas: StreamDelta[] = [];
    const output = [
      { id: 'rs_1', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
      { ...MESSAGE, content: [{ type: 'output_text', text: 'So.' }] },
      { ...CALL, arguments: '{}' },
    ];
    const answer = await answerTo([CREATED, completed({ output })], { onDelta: (piece: StreamDelta) => deltas.push(piece) });
    expect(answer).toMatchObject({
      stop: 'tool_calls',
      parts: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'So.' },
        { type: 'tool_call', args: {} },
      ],
    });
    expect(deltas).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'So.' },
      { type: 'tool_call', name: 'read_file' },
    ]);
  });

  it('may never say how it ended, if that is known of it and there is no call in it', async () => {
    const text = [CREATED, added(MESSAGE), delta('output_text', 'So.')];
    const lenient = { strictTerminal: false };
    await expect(answerTo(text, {}, lenient)).resolves.toMatchObject({ stop: 'end', parts: [{ text: 'So.' }] });
    await expect(answerTo(text)).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
    await expect(answerTo([...text, done({ ...CALL, arguments: '{}' }, 1)], {}, lenient)).rejects.toMatchObject({
      type: 'Model.StreamTruncated',
    });
  });
});

describe('a response that did not go well', () => {
  it.each([
    ['rate_limit_exceeded', 'Model.RateLimited'],
    ['server_error', 'Model.Overloaded'],
    ['insufficient_quota', 'Model.Quota'],
    ['context_length_exceeded', 'Model.ContextOverflow'],
    ['invalid_prompt', 'Model.ContentFilter'],
    ['image_content_policy_violation', 'Model.ContentFilter'],
    ['image_parse_error', 'Model.BadRequest'],
    ['something_new', 'Model.Overloaded'],
  ])('by %s is %s, whichever of the three ways it is told', async (code, type) => {
    const error = { code, message: 'it went wrong' };
    const failures: Event[] = [
      { type: 'response.failed', response: { status: 'failed', output: [], error } },
      { type: 'error', ...error, param: null },
      { type: 'error', error: { type: 'invalid_request_error', ...error } },
    ];
    const expected = code === 'something_new' ? [type, type, 'Model.BadRequest'] : [type, type, type];
    for (const [index, failure] of failures.entries()) {
      const call = answerTo([CREATED, added(MESSAGE), delta('output_text', 'So'), failure]);
      await expect(call).rejects.toMatchObject({
        name: 'ModelError',
        type: expected[index],
        message: expect.stringContaining('it went wrong'),
      });
    }
  });

  it('without a reason is told as such', async () => {
    await expect(answerTo([CREATED, { type: 'response.failed', response: { status: 'failed', error: null } }])).rejects.toMatchObject({
      type: 'Model.Overloaded',
      message: expect.stringContaining('failed'),
    });
  });

  it('is a refusal by the words of the model, streamed or not', async () => {
    const refusal = done({ ...MESSAGE, content: [{ type: 'refusal', refusal: 'No.' }] });
    for (const events of [[added(MESSAGE), delta('refusal', 'No.'), refusal], [refusal]]) {
      await expect(answerTo([CREATED, ...events, completed()])).resolves.toMatchObject({ stop: 'refusal', parts: [{ text: 'No.' }] });
    }
  });

  it('by a filter within a call is a refusal without that call', async () => {
    const filtered: Event = {
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [] },
    };
    const events = [CREATED, done({ ...MESSAGE, content: [{ type: 'output_text', text: 'So.' }] }), added(CALL, 1)];
    await expect(answerTo([...events, delta('function_call_arguments', '{"pa', { output_index: 1 }), filtered])).resolves.toMatchObject({
      stop: 'refusal',
      parts: [{ type: 'text', text: 'So.' }],
    });
  });
});

it('reasoning of two summaries is two paragraphs, kept with what it led to', async () => {
  const summary = ['First.', 'Then.'].map((text) => ({ type: 'summary_text', text }));
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [] };
  const { parts } = await answerTo([
    CREATED,
    added(reasoning),
    summaryPart(0),
    delta('reasoning_summary_text', 'First.'),
    summaryPart(1),
    delta('reasoning_summary_text', 'Then.'),
    done({ ...reasoning, summary, encrypted_content: 'sealed' }),
    done({ ...CALL, arguments: '{}' }, 1),
    completed(),
  ]);
  const [thinking] = parts;
  if (thinking?.type !== 'thinking') throw new Error('thinking was expected');
  expect(thinking.text).toBe('First.\n\nThen.');
  expect(JSON.parse(thinking.opaque ?? '')).toEqual({
    reasoning: {
      origin: expect.any(String),
      id: 'rs_1',
      encrypted_content: 'sealed',
      summary,
      following: { type: 'function_call', id: 'fc_1' },
    },
  });
});

it('thinking, text and calls go back as they came: a strict server takes them, and reads its own reasoning', async () => {
  const wire = await startWireServer({
    script: { steps: [{ thinking: 'Two files.', text: 'Reading.', toolCalls: [{ name: 'read_file' }] }, { text: 'Done.' }] },
    formats: ['openai-responses'],
  });
  try {
    const provider = createOpenAiResponsesProvider({ baseUrl: wire.openaiBaseUrl, apiKey: wire.apiKey });
    const first = await provider.call(modelRequest());
    const own = first.parts.map((part) => (part.type === 'tool_call' ? { ...part, callId: 'own_1' } : part));
    const messages: Message[] = [
      ...modelRequest().messages,
      { id: 'a1', role: 'assistant', parts: own },
      { id: 'r1', role: 'tool', parts: [{ type: 'tool_result', callId: 'own_1', isError: false, parts: [] }] },
    ];
    await expect(provider.call(modelRequest({ messages }))).resolves.toMatchObject({ parts: [{ text: 'Done.' }] });
    expect(wire.requests[1]?.body).toMatchObject({
      input: [
        { role: 'user' },
        { type: 'reasoning', encrypted_content: expect.any(String), summary: [{ text: 'Two files.' }] },
        { type: 'message', role: 'assistant' },
        { type: 'function_call', call_id: 'own_1' },
        { type: 'function_call_output', call_id: 'own_1' },
      ],
    });
  } finally {
    await wire.close();
  }
});

it('A-11: a call by the name that a tool was sent under reaches that tool', async () => {
  const tools = [{ name: 'notes.read file', description: 'Reads.', schema: { type: 'object', properties: {} } }];
  const deltas: StreamDelta[] = [];
  const onDelta = (piece: StreamDelta): void => void deltas.push(piece);
  const item = { ...CALL, name: 'notes_read_file' };
  const { parts } = await answerTo([CREATED, added(item), done({ ...item, arguments: '{}' }), completed()], { tools, onDelta });
  expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ tools: [{ name: 'notes_read_file' }] });
  expect(parts).toMatchObject([{ name: 'notes.read file' }]);
  expect(deltas).toEqual([{ type: 'tool_call', name: 'notes.read file' }]);
});

it('P6: the key goes into the header that the server reads, beside the headers and the query that it wants', async () => {
  const quirks = { keyHeader: 'api-key', headers: { 'x-title': 'perdure' }, query: { 'api-version': '2025-04-01' } } as const;
  await answerTo([CREATED, added(MESSAGE), delta('output_text', 'So.'), completed()], {}, quirks);
  const { path, headers } = server.requests.at(-1) ?? {};
  expect(path).toBe('/v1/responses?api-version=2025-04-01');
  expect(headers).toMatchObject({ 'api-key': 'test-key-0123456789', 'x-title': 'perdure' });
  expect(headers).not.toHaveProperty('authorization');
});
