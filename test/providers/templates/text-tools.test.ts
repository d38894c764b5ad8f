import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../src/define/provider-quirks.js';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import { createOpenAiChatProvider } from '../../../src/providers/openai/chat/chat.js';
import { createOpenAiCompletionsProvider } from '../../../src/providers/openai/completions/completions.js';
import { startWireServer } from '../../../src/testing/wire-server.js';
import { type RawServer, startRawServer, streamOf } from '../support/raw-server.js';
import { modelRequest } from '../support/wire.js';

const KEY = 'test-key-0123456789';
const CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.md"}}\n</tool_call>';

/** A stream of chat completions whose text comes four signs at a time. */
function chatStream(text: string, finish = 'stop'): string {
  const pieces = text.match(/[^]{1,4}/gu) ?? [];
  const deltas = pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
  const chunks = [...deltas, { choices: [{ index: 0, delta: {}, finish_reason: finish }] }];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

describe('a chat server whose model calls in text', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const ask = (text: string, fields: Parameters<typeof modelRequest>[0] = {}, finish = 'stop') => {
    server.answerWith(streamOf(chatStream(text, finish)));
    const provider = createOpenAiChatProvider({ baseUrl: `${server.url}/v1`, apiKey: KEY, quirks: { toolCallsAsText: 'qwen3' } });
    return provider.call(modelRequest(fields));
  };
  const lastBody = (): { readonly messages: readonly { readonly role: string; readonly content: string }[] } & Record<string, unknown> =>
    JSON.parse(server.requests.at(-1)?.body ?? '{}');

  it('is told of its tools, of calls and of results in words, and of no tool in any other way', async () => {
    const messages: Message[] = [
      { id: '1', role: 'user', parts: [{ type: 'text', text: 'Read a.md.' }] },
      {
        id: '2',
        role: 'assistant',
        parts: [
          { type: 'text', text: 'I will.' },
          { type: 'tool_call', callId: 'c', name: 'read_file', args: { path: 'a.md' } },
        ],
      },
      { id: '3', role: 'tool', parts: [{ type: 'tool_result', callId: 'c', isError: false, parts: [{ type: 'text', text: 'one' }] }] },
    ];
    await ask('Done.', { messages });
    const body = lastBody();
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
    expect(body.messages).toEqual([
      { role: 'system', content: expect.stringMatching(/^You help\.\n\n# Tools\n[^]*"name": "read_file"/u) },
      { role: 'user', content: 'Read a.md.' },
      { role: 'assistant', content: `I will.\n${CALL}` },
      { role: 'user', content: '<tool_response>\none\n</tool_response>' },
    ]);
  });

  it('has its calls read out of the stream, and shown without their marks', async () => {
    const deltas: StreamDelta[] = [];
    const answer = await ask(`<think>\nOne file.\n</think>\n\nI read it.\n${CALL}`, { onDelta: (delta) => deltas.push(delta) });
    expect(answer).toMatchObject({
      stop: 'tool_calls',
      parts: [
        { type: 'thinking', text: 'One file.' },
        { type: 'text', text: 'I read it.' },
        { type: 'tool_call', name: 'read_file', args: { path: 'a.md' } },
      ],
    });
    const shown = deltas.map((delta) => (delta.type === 'tool_call' ? `[${delta.name}]` : delta.text)).join('');
    expect(shown).toBe('One file.I read it.[read_file]');
  });

  it('cut within a call says so, with the call as far as it came', async () => {
    await expect(ask(CALL.slice(0, -20), {}, 'length')).resolves.toMatchObject({
      stop: 'length',
      parts: [{ type: 'tool_call', name: 'read_file', args: {}, argsText: expect.stringMatching(/^\{"path": "/u) }],
    });
  });

  it('is asked in words for a call or for none, and a call that was forbidden is none', async () => {
    await ask(CALL, { toolChoice: 'required' });
    expect(lastBody().messages.at(-1)).toMatchObject({ role: 'user', content: expect.stringMatching(/call/iu) });
    const deltas: StreamDelta[] = [];
    const answer = await ask(`Done.\n${CALL}`, { toolChoice: 'none', onDelta: (delta) => deltas.push(delta) });
    expect(answer).toMatchObject({ stop: 'end', parts: [{ type: 'text', text: 'Done.' }] });
    expect(deltas.filter(({ type }) => type === 'tool_call')).toEqual([]);
    await ask('Done.', { toolChoice: 'none', tools: [] });
    expect(lastBody().messages).toHaveLength(2);
  });
});

describe.each(['qwen3', 'gemma'] as const)('a completion server with the template %s', (template) => {
  it('runs a task with tools to its end, each request one that the model could read', async () => {
    const server = await startWireServer({
      formats: ['openai-completions'],
      script: {
        steps: [
          {
            text: 'I read both.',
            toolCalls: [
              { name: 'read_file', args: { path: 'a.md' } },
              { name: 'read_file', args: { path: 'b.md' } },
            ],
          },
          { text: 'They say ```one``` and two.' },
        ],
      },
    });
    try {
      const quirks: ProviderQuirks = { template };
      const provider = createOpenAiCompletionsProvider({ baseUrl: server.openaiBaseUrl, apiKey: server.apiKey, quirks });
      const first = modelRequest();
      const called = await provider.call(first);
      expect(called).toMatchObject({
        stop: 'tool_calls',
        parts: [{ type: 'text' }, { args: { path: 'a.md' } }, { args: { path: 'b.md' } }],
      });
      const results = called.parts.flatMap((part): Message[] =>
        part.type === 'tool_call'
          ? [
              {
                id: part.callId,
                role: 'tool',
                parts: [{ type: 'tool_result', callId: part.callId, isError: false, parts: [{ type: 'text', text: 'one' }] }],
              },
            ]
          : [],
      );
      const answer: Message = { id: 'a1', role: 'assistant', parts: [...called.parts] };
      const ended = await provider.call({ ...first, messages: [...first.messages, answer, ...results] });
      expect(ended).toMatchObject({ stop: 'end', parts: [{ type: 'text', text: 'They say ```one``` and two.' }] });
      expect(server.requests.map(({ outcome, problem }) => problem ?? outcome)).toEqual(['answered', 'answered']);
    } finally {
      await server.close();
    }
  });
});

it('a completion server with the plain template answers, and refuses tools before anything is sent', async () => {
  const server = await startWireServer({ formats: ['openai-completions'], script: { steps: [{ text: 'Fine.' }] } });
  try {
    const provider = createOpenAiCompletionsProvider({
      baseUrl: server.openaiBaseUrl,
      apiKey: server.apiKey,
      quirks: { template: 'plain' },
    });
    await expect(provider.call(modelRequest({ tools: [] }))).resolves.toMatchObject({
      stop: 'end',
      parts: [{ type: 'text', text: 'Fine.' }],
    });
    await expect(provider.call(modelRequest())).rejects.toMatchObject({
      type: 'Model.BadRequest',
      message: expect.stringContaining('template plain'),
    });
    expect(server.requests).toHaveLength(1);
  } finally {
    await server.close();
  }
});
