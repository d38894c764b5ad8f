import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import { answering, askAiSdk, FINISH, readCall, TEXT } from '../support/ask-ai-sdk.js';
import { modelRequest } from '../support/wire.js';

describe('createAiSdkProvider', () => {
  it('text streams as deltas and comes back as one part, with usage and the id of the request', async () => {
    const deltas: StreamDelta[] = [];
    const model = answering([{ type: 'stream-start', warnings: [] }, { type: 'response-metadata', id: 'resp_1' }, ...TEXT, FINISH]);
    const answer = await askAiSdk(model, { onDelta: (delta) => deltas.push(delta) });
    expect(answer).toEqual({
      parts: [{ type: 'text', text: 'Hello you.' }],
      stop: 'end',
      usage: { inputTokens: 50, outputTokens: 7, cacheReadTokens: 30, cacheWriteTokens: 10, reasoningTokens: 3 },
      requestId: 'resp_1',
    });
    expect(deltas).toEqual([
      { type: 'text', text: 'Hello ' },
      { type: 'text', text: 'you.' },
    ]);
  });

  it('a header of the answer is the id of the request before the id in the answer', async () => {
    const stream = convertArrayToReadableStream([{ type: 'response-metadata', id: 'resp_1' } as const, ...TEXT, FINISH]);
    const model = new MockLanguageModelV3({ doStream: { stream, response: { headers: { 'x-request-id': 'req_1' } } } });
    await expect(askAiSdk(model)).resolves.toMatchObject({ requestId: 'req_1' });
  });

  it('calls come in their order, are announced once, and keep what their provider signed them with', async () => {
    const deltas: StreamDelta[] = [];
    const answer = await askAiSdk(
      answering(
        [
          { type: 'tool-input-start', id: 'c1', toolName: 'read_file' },
          { type: 'tool-input-delta', id: 'c1', delta: '{"path":' },
          { type: 'tool-input-delta', id: 'c1', delta: '"a.md"}' },
          { type: 'tool-input-end', id: 'c1' },
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'read_file',
            input: '{"path":"a.md"}',
            providerMetadata: { google: { thoughtSignature: 'c2ln' } },
          },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'read_file', input: '{"path":"b.md"}' },
          { ...FINISH, finishReason: { unified: 'tool-calls', raw: 'STOP' } },
        ],
        'google.generative-ai',
      ),
      { onDelta: (delta) => deltas.push(delta) },
    );
    expect(answer.stop).toBe('tool_calls');
    expect(answer.parts).toMatchObject([
      { type: 'tool_call', callId: 'c1', name: 'read_file', args: { path: 'a.md' } },
      { type: 'tool_call', callId: 'c2', name: 'read_file', args: { path: 'b.md' } },
    ]);
    expect(deltas).toEqual([
      { type: 'tool_call', name: 'read_file' },
      { type: 'tool_call', name: 'read_file' },
    ]);
    const next = answering([...TEXT, FINISH], 'google.generative-ai');
    await askAiSdk(next, { messages: [...modelRequest().messages, { id: 'a', role: 'assistant', parts: [...answer.parts] }] });
    expect(next.doStreamCalls[0]?.prompt.at(-1)?.content).toMatchObject([
      { type: 'tool-call', toolCallId: 'c1', providerOptions: { google: { thoughtSignature: 'c2ln' } } },
      { type: 'tool-call', toolCallId: 'c2' },
    ]);
  });

  it('thinking goes back to its own provider unchanged with all its metadata, and to no other', async () => {
    const answer = await askAiSdk(
      answering(
        [
          { type: 'reasoning-start', id: 'r', providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: null } } },
          { type: 'reasoning-delta', id: 'r', delta: 'Let me see.' },
          { type: 'reasoning-end', id: 'r', providerMetadata: { openai: { reasoningEncryptedContent: 'ZW5j' } } },
          { type: 'reasoning-start', id: 'h', providerMetadata: { openai: { redacted: true } } },
          { type: 'reasoning-end', id: 'h' },
          ...TEXT,
          FINISH,
        ],
        'openai.responses',
      ),
    );
    expect(answer.parts).toMatchObject([{ type: 'thinking', text: 'Let me see.' }, { type: 'thinking', text: '' }, { type: 'text' }]);
    const messages: Message[] = [...modelRequest().messages, { id: 'a', role: 'assistant', parts: [...answer.parts] }];
    const same = answering([...TEXT, FINISH], 'openai.responses');
    const other = answering([...TEXT, FINISH], 'anthropic.messages');
    await Promise.all([askAiSdk(same, { messages }), askAiSdk(other, { messages })]);
    expect(same.doStreamCalls[0]?.prompt.at(-1)?.content).toEqual([
      { type: 'reasoning', text: 'Let me see.', providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'ZW5j' } } },
      { type: 'reasoning', text: '', providerOptions: { openai: { redacted: true } } },
      { type: 'text', text: 'Hello you.' },
    ]);
    expect(other.doStreamCalls[0]?.prompt.at(-1)?.content).toEqual([{ type: 'text', text: 'Hello you.' }]);
  });

  it("a call that the provider's own tools answered is no call of ours; a file that the model made is named", async () => {
    const answer = await askAiSdk(
      answering([
        { type: 'tool-input-start', id: 'w', toolName: 'web_search', providerExecuted: true },
        { type: 'tool-call', toolCallId: 'w', toolName: 'web_search', input: '{}', providerExecuted: true },
        { type: 'tool-result', toolCallId: 'w', toolName: 'web_search', result: 'found' },
        { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
        FINISH,
      ]),
    );
    expect(answer.parts).toEqual([{ type: 'text', text: '[the model made a file of type image/png, which is not kept]' }]);
    expect(answer.stop).toBe('end');
  });

  it("an answer that ends in a call of the provider's own tools, and in no word, has not lost one of ours", async () => {
    const call = { type: 'tool-call' as const, toolCallId: 'w', toolName: 'web_search', input: '{}', providerExecuted: true };
    const parts: LanguageModelV3StreamPart[] = [call, { ...FINISH, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } }];
    await expect(askAiSdk(answering(parts))).resolves.toMatchObject({ parts: [], stop: 'end' });
  });

  it.each([
    [{ unified: 'length', raw: 'length' }, 'length'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'refusal'],
    [{ unified: 'stop', raw: 'pause_turn' }, 'paused'],
    [{ unified: 'other', raw: 'eos' }, 'end'],
  ] as const)('the finish %j is the stop %s', async (finishReason, stop) => {
    await expect(askAiSdk(answering([...TEXT, { ...FINISH, finishReason }]))).resolves.toMatchObject({ stop });
  });

  it('half a call at the length limit keeps the text of its arguments', async () => {
    const parts: LanguageModelV3StreamPart[] = [
      { type: 'tool-input-start', id: 'c', toolName: 'read_file' },
      { type: 'tool-input-delta', id: 'c', delta: '{"path":' },
      { ...FINISH, finishReason: { unified: 'length', raw: 'length' } },
    ];
    await expect(askAiSdk(answering(parts))).resolves.toMatchObject({
      stop: 'length',
      parts: [{ type: 'tool_call', args: {}, argsText: '{"path":' }],
    });
  });

  it('a stream that ends without a finish, or with one that says nothing, is cut', async () => {
    const silent: LanguageModelV3StreamPart = { ...FINISH, finishReason: { unified: 'other', raw: undefined } };
    await expect(askAiSdk(answering(TEXT))).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
    await expect(askAiSdk(answering([...TEXT, silent]))).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
    await expect(askAiSdk(answering([{ type: 'stream-start', warnings: [] }, silent]))).rejects.toMatchObject({
      type: 'Model.EmptyStream',
    });
  });

  it('counts that the server did not send are no usage', async () => {
    const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
    expect(await askAiSdk(answering([...TEXT, { ...FINISH, usage }]))).not.toHaveProperty('usage');
  });

  it('one call asks the model once, with the limit, the tools and the choice of the request', async () => {
    const model = answering([...TEXT, FINISH]);
    await askAiSdk(model, { outputTokensMax: 123, toolChoice: 'required' });
    expect(model.doStreamCalls).toHaveLength(1);
    expect(model.doStreamCalls[0]).toMatchObject({
      maxOutputTokens: 123,
      toolChoice: { type: 'required' },
      tools: [{ type: 'function', name: 'read_file', description: 'Reads a file.', inputSchema: { type: 'object' } }],
      prompt: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: [{ type: 'text', text: 'Read a.md and b.md.' }] },
      ],
    });
    const bare = answering([...TEXT, FINISH]);
    await askAiSdk(bare, { tools: [], prompt: ' ' });
    expect(bare.doStreamCalls[0]).not.toHaveProperty('toolChoice');
    expect(bare.doStreamCalls[0]?.prompt[0]?.role).toBe('user');
  });

  it('results of one turn are one message with the names of their tools, errors say so, and a cut transcript begins with a user', async () => {
    const model = answering([...TEXT, FINISH]);
    await askAiSdk(model, {
      messages: [
        { id: 'a', role: 'assistant', parts: [readCall('c1'), readCall('c2')] },
        { id: 'r1', role: 'tool', parts: [{ type: 'tool_result', callId: 'c1', isError: false, parts: [{ type: 'text', text: 'one' }] }] },
        { id: 'r2', role: 'tool', parts: [{ type: 'tool_result', callId: 'c2', isError: true, parts: [] }] },
        { id: 'a2', role: 'assistant', parts: [] },
      ],
    });
    expect(model.doStreamCalls[0]?.prompt.slice(1)).toEqual([
      { role: 'user', content: [{ type: 'text', text: '(what was said before is not shown)' }] },
      { role: 'assistant', content: [expect.objectContaining({ toolCallId: 'c1' }), expect.objectContaining({ toolCallId: 'c2' })] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'read_file', output: { type: 'text', value: 'one' } },
          { type: 'tool-result', toolCallId: 'c2', toolName: 'read_file', output: { type: 'error-text', value: '(empty)' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: '(no text)' }] },
    ]);
  });
});
