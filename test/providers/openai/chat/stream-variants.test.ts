import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenAiChatProvider } from '../../../../src/providers/openai/chat/chat.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { modelRequest } from '../../support/wire.js';

type Chunk = Readonly<Record<string, unknown>>;

const choice = (delta: unknown, finish_reason: string | null = null): Chunk => ({ choices: [{ index: 0, delta, finish_reason }] });
const call = (name: string, path: string, fields: object = {}) => ({
  type: 'function',
  function: { name, arguments: JSON.stringify({ path }) },
  ...fields,
});

const usageOf = (output: number) => ({ prompt_tokens: 32, completion_tokens: output, total_tokens: 32 + output });

describe('what servers of chat completions stream in their own ways', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerTo = (...chunks: Chunk[]) => {
    server.answerWith(streamOf(...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'));
    return createOpenAiChatProvider({ baseUrl: `${server.url}/v1`, apiKey: 'test-key-0123456789' }).call(modelRequest());
  };

  it.each([
    ['no index and no id', {}],
    ['no index and an empty id', { id: '' }],
    ['one index and no id', { index: 0 }],
    ['one index and an empty id', { index: 0, id: '' }],
  ])('whole calls with %s are as many calls as there are, in one chunk or in several', async (_, fields) => {
    const calls = [call('read_file', 'a.md', fields), call('read_file', 'b.md', fields), call('list_files', 'c', fields)];
    const expected = [
      { type: 'tool_call', name: 'read_file', args: { path: 'a.md' } },
      { type: 'tool_call', name: 'read_file', args: { path: 'b.md' } },
      { type: 'tool_call', name: 'list_files', args: { path: 'c' } },
    ];
    const inOne = await answerTo(choice({ role: 'assistant', tool_calls: calls }, 'stop'));
    expect(inOne).toMatchObject({ stop: 'tool_calls', parts: expected });
    expect(new Set(inOne.parts.map((part) => part.type === 'tool_call' && part.callId)).size).toBe(3);
    const inThree = await answerTo(...calls.map((each) => choice({ tool_calls: [each] })), choice({}, 'stop'));
    expect(inThree).toMatchObject({ stop: 'tool_calls', parts: expected });
  });

  it('a call whose pieces repeat its name is one call, whatever its pieces are', async () => {
    const pieces = ['{"path"', ':{"a":{}', '}', '}', ' ', ''];
    const { parts } = await answerTo(
      ...pieces.map((text) => choice({ tool_calls: [{ index: 0, function: { name: 'read_file', arguments: text } }] })),
      choice({}, 'tool_calls'),
    );
    expect(parts).toMatchObject([{ type: 'tool_call', name: 'read_file', args: { path: { a: {} } } }]);
  });

  it('a call whose whole arguments come once more at its end has them once', async () => {
    const piece = (text: string) => choice({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    const begun = choice({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'read_file', arguments: '' } }] });
    const { parts } = await answerTo(begun, piece('{"path":'), piece('"a.md"}'), piece('{"path":"a.md"}'), choice({}, 'tool_calls'));
    expect(parts).toEqual([{ type: 'tool_call', callId: 'call_1', name: 'read_file', args: { path: 'a.md' } }]);
  });

  it('a failure that is told as an event of its own, not below "error", is that failure', async () => {
    const message = "This model's maximum context length is 4096 tokens.";
    const told = answerTo({ object: 'error', message, type: 'BadRequestError', code: 400 });
    await expect(told).rejects.toMatchObject({ type: 'Model.ContextOverflow', message, status: 400 });
    await expect(answerTo(choice({ content: 'So far' }), { object: 'error', message: 'CUDA error', code: 500 })).rejects.toMatchObject({
      type: 'Model.Overloaded',
      message: 'CUDA error',
    });
  });

  it.each(['error', 'abort', 'insufficient_system_resource'])('%s as the end of an answer is a failure of its server', async (reason) => {
    await expect(answerTo(choice({ content: 'So far' }), choice({}, reason))).rejects.toMatchObject({ type: 'Model.Overloaded' });
  });

  it('a call that the server dropped because it could not read it is told to the model, and no answer', async () => {
    const ended = answerTo(choice({ content: 'I read it.' }), choice({}, 'function_call_filter: MALFORMED_FUNCTION_CALL'));
    await expect(ended).rejects.toMatchObject({ type: 'Model.BadJson', message: expect.stringContaining('MALFORMED_FUNCTION_CALL') });
  });

  it('a filter that says behind its name which one it is, is a refusal', async () => {
    const answer = await answerTo(choice({}, 'content_filter: PROHIBITED_CONTENT'));
    expect(answer).toMatchObject({ stop: 'refusal', parts: [] });
  });

  it.each([
    ['xAI', { completion_tokens_details: { reasoning_tokens: 94 } }, 94],
    ['Gemini, which does not say what it is', {}, 94],
  ])('thinking that only the total counts is output, as it is paid: %s', async (_, details, reasoningTokens) => {
    const usage = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, ...details };
    const { usage: told } = await answerTo({ ...choice({ content: 'Hi.' }, 'stop'), usage });
    expect(told).toMatchObject({ inputTokens: 32, outputTokens: 103, reasoningTokens });
  });

  it.each([
    ['holds the thinking already', { total_tokens: 41, completion_tokens_details: { reasoning_tokens: 5 } }, 9],
    ['holds what was cached, which is no output', { total_tokens: 541, prompt_tokens_details: { cached_tokens: 500 } }, 9],
    ['is nonsense', { total_tokens: '999' }, 9],
    ['is missing', {}, 9],
  ])('output is what is told as such where the total %s', async (_, fields, outputTokens) => {
    const usage = { prompt_tokens: 32, completion_tokens: 9, ...fields };
    const answer = await answerTo({ ...choice({ content: 'Hi.' }, 'stop'), usage });
    expect(answer.usage).toMatchObject({ inputTokens: 32, outputTokens });
  });

  it('usage told with each chunk is that of the last', async () => {
    const answer = await answerTo(
      { ...choice({ content: 'Hi' }), usage: usageOf(1) },
      { ...choice({ content: '.' }, 'stop'), usage: usageOf(2) },
    );
    expect(answer).toMatchObject({ parts: [{ text: 'Hi.' }], usage: { inputTokens: 32, outputTokens: 2 } });
  });

  it('thinking is read where it is, also beside an empty field of the other name', async () => {
    const { parts } = await answerTo(choice({ reasoning_content: '', reasoning: 'Two files.' }), choice({ content: 'Done.' }, 'stop'));
    expect(parts).toEqual([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'Done.' },
    ]);
  });
});
