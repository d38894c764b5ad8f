import { describe, expect, it } from 'vitest';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../../../src/providers/contract/provider.js';
import { createOpenAiChatProvider } from '../../../src/providers/openai/chat/chat.js';
import { createOpenAiResponsesProvider } from '../../../src/providers/openai/responses/responses.js';
import type { ScriptInput, ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { checkScript } from '../../../src/providers/scripted/script-file.js';
import { createScriptedProvider } from '../../../src/providers/scripted/scripted.js';
import { useModels } from '../../e2e/support/use-models.js';
import { modelRequest } from '../../providers/support/wire.js';

const wireServer = useModels();

const WAYS = ['in process', 'over chat completions', 'over responses', 'over messages'] as const;

describe.each(WAYS)('a script played %s', (way) => {
  it('goes through a conversation with parallel calls, a broken one and a steer, and the final call', async () => {
    const model = await providerOf(way, {
      steps: [
        {
          thinking: 'First I look.',
          text: 'Looking.',
          toolCalls: [
            { name: 'note', args: { line: 1 } },
            { name: 'note', args: { line: 2 } },
          ],
        },
        { text: 'Broken now.', toolCalls: [{ name: 'note', argsText: '{"line":' }] },
        { text: 'Heard: {{lastUser}} / {{lastToolResult}}', expect: { tools: ['note'] } },
      ],
      final: { text: 'That is all.' },
    });
    const messages: Message[] = [user('u1', 'Sort the notes.')];
    const first = await model.call(request({ messages }));
    expect(first.stop).toBe('tool_calls');
    expect(first.parts).toMatchObject([{ text: 'First I look.' }, { text: 'Looking.' }, { args: { line: 1 } }, { args: { line: 2 } }]);
    messages.push(...turn('a1', first));
    const second = await model.call(request({ messages }));
    expect(second.parts.at(-1)).toMatchObject({ type: 'tool_call', args: {}, argsText: '{"line":' });
    messages.push(...turn('a2', second), user('u2', 'Faster!'));
    const third = await model.call(request({ messages }));
    expect(third).toMatchObject({ parts: [{ text: 'Heard: Faster! / result of a2' }], stop: 'end' });
    messages.push(...turn('a3', third), user('u3', 'Sum up.'));
    await expect(model.call(request({ messages, toolChoice: 'none' }))).resolves.toMatchObject({ parts: [{ text: 'That is all.' }] });
  });

  it('tells the usage of the step', async () => {
    const usage = { inputTokens: 120, outputTokens: 30, cacheReadTokens: 100 };
    const model = await providerOf(way, {
      steps: [
        { text: 'x', usage },
        { text: 'y', usage: 'none' },
      ],
    });
    await expect(model.call(request({}))).resolves.toMatchObject({ usage });
    const messages = [user('u1', 'a'), assistant('a1', 'x'), user('u2', 'b')];
    expect((await model.call(request({ messages }))).usage).toBeUndefined();
  });

  it.each([
    [{ status: 400 }, { type: 'Model.BadRequest', status: 400 }],
    [{ status: 400, code: 'context_length_exceeded' }, { type: 'Model.ContextOverflow' }],
    [{ status: 401 }, { type: 'Model.Auth' }],
    [{ status: 403 }, { type: 'Model.Auth' }],
    [{ status: 413 }, { type: 'Model.ContextOverflow' }],
    [
      { status: 429, retryAfter: 3 },
      { type: 'Model.RateLimited', retryAfterMs: 3_000 },
    ],
    [{ status: 500 }, { type: 'Model.Overloaded' }],
    [{ status: 504 }, { type: 'Model.Timeout' }],
    [{ status: 529 }, { type: 'Model.Overloaded' }],
    [{ status: 500, message: 'Failed to parse tool call arguments as JSON' }, { type: 'Model.BadJson' }],
    [
      { status: 400, message: 'input length and `max_tokens` exceed context limit: 9 + 2 > 10' },
      { type: 'Model.ContextOverflow', hint: 'lower-output' },
    ],
    [{ streamError: 'api_error', message: 'error parsing tool call: raw' }, { type: 'Model.BadJson' }],
    [{ cutAfterBytes: 0 }, { type: 'Model.EmptyStream' }],
    [{ cutAfterEvent: 'start' }, { type: 'Model.StreamTruncated' }],
    [{ cutAfterEvent: 'text' }, { type: 'Model.StreamTruncated' }],
    [{ cutAfterEvent: 'tool_call', by: 'close' }, { type: 'Model.StreamTruncated' }],
    [{ cutAfterEvent: 'arguments', by: 'reset' }, { type: 'Model.StreamTruncated' }],
    [{ stall: true }, { type: 'Model.StreamIdle' }],
    [{ stall: true, afterEvent: 'arguments' }, { type: 'Model.StreamIdle' }],
    [{ streamError: 'overloaded_error', afterEvent: 'text' }, { type: 'Model.Overloaded' }],
    [{ streamError: 'rate_limit_error' }, { type: 'Model.RateLimited' }],
    [{ html: true }, { type: 'Model.BadResponse' }],
    [{ redirect: 'http://127.0.0.1:9/' }, { type: 'Model.BadRequest' }],
  ] satisfies [ScriptStepInput['fault'], object][])('fails by %j with %j, then answers', async (fault, failure) => {
    const model = await providerOf(way, { steps: [{ text: 'some words', toolCalls: [{ name: 'note', args: { line: 1 } }], fault }] });
    // long enough for a busy server to get the request: the next one would stall instead
    const idleMs = 'stall' in fault ? 1_000 : 60_000;
    await expect(model.call(request({ idleMs }))).rejects.toMatchObject({ name: 'ModelError', ...failure });
    await expect(model.call(request({}))).resolves.toMatchObject({ stop: 'tool_calls' });
  });

  it('B-18: may think without an answer as often as the fault says, in pieces, and then answers', async () => {
    const model = await providerOf(way, { steps: [{ text: 'ok', fault: { thinkTokens: 50, times: 2 }, chunkDelayMs: 1 }] });
    for (const _ of [1, 2]) {
      let pieces = 0;
      const onDelta = () => void (pieces += 1);
      const { parts, stop } = await model.call(request({ onDelta }));
      expect(parts).toMatchObject([{ type: 'thinking', text: 'hmm '.repeat(50) }]);
      expect(stop).toBe('end');
      expect(pieces).toBeGreaterThanOrEqual(50);
    }
    await expect(model.call(request({}))).resolves.toMatchObject({ parts: [{ type: 'text', text: 'ok' }] });
  });

  it('M20: may refuse', async () => {
    const model = await providerOf(way, { steps: [{ text: 'No.', stop: 'refusal' }] });
    await expect(model.call(request({}))).resolves.toMatchObject({ parts: [{ text: 'No.' }], stop: 'refusal' });
  });

  it("M21: may pause several times in a row, with and without thinking; OpenAI's formats know no pause, and end", async () => {
    const paused = { text: 'A part.', stop: 'paused' } as const;
    const model = await providerOf(way, { steps: [paused, { ...paused, thinking: 'Go on.' }, paused, { text: 'The end.' }] });
    const messages: Message[] = [user('u1', 'Sort the notes.')];
    const stops: string[] = [];
    for (const id of ['a1', 'a2', 'a3', 'a4']) {
      const answer = await model.call(request({ messages }));
      stops.push(answer.stop);
      messages.push(...turn(id, answer));
    }
    const pause = way === 'in process' || way === 'over messages' ? 'paused' : 'end';
    expect(stops).toEqual([pause, pause, pause, 'end']);
  });

  it('rejects with the reason of the signal in a trickle of pings', async () => {
    const model = await providerOf(way, { steps: [{ text: 'some words', fault: { stall: true, afterEvent: 'text', pingEveryMs: 5 } }] });
    const abort = new AbortController();
    const reason = new Error('stopped by a user');
    const call = model.call(request({ idleMs: 60_000, signal: abort.signal, onDelta: () => setImmediate(() => abort.abort(reason)) }));
    await expect(call).rejects.toBe(reason);
  });
});

async function providerOf(way: (typeof WAYS)[number], script: ScriptInput): Promise<ModelProvider> {
  if (way === 'in process') return createScriptedProvider({ script: checkScript(script, 'test') });
  const server = await wireServer({ script });
  const { apiKey } = server;
  if (way === 'over messages') return createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey });
  if (way === 'over responses') return createOpenAiResponsesProvider({ baseUrl: server.openaiBaseUrl, apiKey });
  return createOpenAiChatProvider({ baseUrl: server.openaiBaseUrl, apiKey });
}

function user(id: string, text: string): Message {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}

function assistant(id: string, text: string): Message {
  return { id, role: 'assistant', parts: [{ type: 'text', text }] };
}

/** An answer and the results of its calls, as a run puts them into its transcript. */
function turn(id: string, { parts }: ModelAnswer): Message[] {
  const own = parts.map((part, index) => (part.type === 'tool_call' ? { ...part, callId: `${id}_${index}` } : part));
  const answer: Message = { id, role: 'assistant', parts: own };
  const results = toolCallsOf(answer).map(
    ({ callId }): Message => ({
      id: `r_${callId}`,
      role: 'tool',
      parts: [{ type: 'tool_result', callId, isError: false, parts: [{ type: 'text', text: `result of ${id}` }] }],
    }),
  );
  return [answer, ...results];
}

function request(fields: Partial<ModelRequest>): ModelRequest {
  return modelRequest({
    messages: [user('u1', 'Sort the notes.')],
    tools: [{ name: 'note', description: 'Notes a line.', schema: { type: 'object', properties: {} } }],
    ...fields,
  });
}
