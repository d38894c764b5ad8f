import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../../src/define/provider-quirks.js';
import { KNOWN_PROVIDERS } from '../../../../src/providers/access/provider-catalog.js';
import { toChatBody } from '../../../../src/providers/openai/chat/body.js';
import { createOpenAiChatProvider } from '../../../../src/providers/openai/chat/chat.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { results, user } from '../../support/turns.js';
import { modelRequest } from '../../support/wire.js';

const OPENROUTER = KNOWN_PROVIDERS['openrouter']?.quirks ?? {};

const encrypted = (id: string, data: string) => ({ type: 'reasoning.encrypted', id, data, format: 'google-gemini-v1', index: 0 });

const piece = (index: number, id: string) => ({ index, id, type: 'function', function: { name: 'read_file', arguments: '{}' } });

/** As the transcript keeps an answer: its calls have ids of our own. */
function kept(parts: readonly Part[]): Message {
  const own = parts.map((part, index) => (part.type === 'tool_call' ? { ...part, callId: `t1_${index}` } : part));
  return { id: 'a', role: 'assistant', parts: own };
}

function sentAnswer(parts: readonly Part[], quirks: ProviderQuirks = OPENROUTER): unknown {
  const messages = [user('Go.'), kept(parts), results('t1_0', 't1_1')];
  const { body } = toChatBody(modelRequest({ messages }), { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', quirks });
  return body.messages.find(({ role }) => role === 'assistant');
}

describe('what OpenRouter encrypts of the reasoning behind a call', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const ask = async (deltas: readonly object[], quirks: ProviderQuirks = OPENROUTER) => {
    const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    server.answerWith(streamOf(...[...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'));
    const provider = createOpenAiChatProvider({ baseUrl: `${server.url}/v1`, apiKey: 'k', quirks });
    return (await provider.call(modelRequest())).parts;
  };

  it('goes back with the call, under the id that the call has now, wherever in the stream it came', async () => {
    const calls = { tool_calls: [piece(0, 'tool_a'), piece(1, 'tool_b')] };
    const details = { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }, encrypted('tool_a', 'c2ln')] };
    for (const deltas of [[{ ...calls, ...details }], [calls, details], [details, calls]]) {
      expect(sentAnswer(await ask(deltas))).toMatchObject({
        tool_calls: [{ id: 't1_0' }, { id: 't1_1' }],
        reasoning_details: [encrypted('t1_0', 'c2ln')],
      });
    }
  });

  it('is not made up, and neither kept of nor sent to a server that is not said to want it', async () => {
    const calls = { tool_calls: [piece(0, 'tool_a'), piece(1, 'tool_b')] };
    expect(sentAnswer(await ask([calls]))).not.toHaveProperty('reasoning_details');
    for (const nonsense of [null, 'x', [null, 7], [{ type: 'reasoning.encrypted', id: 'tool_a' }], [encrypted('tool_z', 'c2ln')]]) {
      expect(sentAnswer(await ask([calls, { reasoning_details: nonsense }]))).not.toHaveProperty('reasoning_details');
    }
    const told = [{ ...calls, reasoning_details: [encrypted('tool_a', 'c2ln')] }];
    expect(sentAnswer(await ask(told), {})).not.toHaveProperty('reasoning_details');
    expect(JSON.stringify(await ask(told, {}))).not.toContain('c2ln');
  });
});
