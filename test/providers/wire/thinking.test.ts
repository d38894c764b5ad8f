import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Message, Part } from '../../../src/contracts/schemas/message.js';
import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import type { ModelRequest, ThinkingOrder } from '../../../src/providers/contract/provider.js';
import { useModels } from '../../e2e/support/use-models.js';
import { startRawServer, streamOf } from '../support/raw-server.js';
import { calls, results, user } from '../support/turns.js';
import { modelRequest } from '../support/wire.js';

const ADAPTIVE: ThinkingOrder = { style: 'adaptive', effort: 'low' };
const BUDGET: ThinkingOrder = { style: 'budget', tokens: 2_000 };
const STEPS = [
  { thinking: 'I need a.md.', toolCalls: [{ name: 'read_file', args: { path: 'a.md' } }] },
  { thinking: 'And b.md.', toolCalls: [{ name: 'read_file', args: { path: 'b.md' } }] },
  { thinking: 'Done.', text: 'Both are read.' },
];

const SentBlock = z.looseObject({ type: z.string() });
const SentBody = z.object({ messages: z.array(z.object({ role: z.string(), content: z.array(SentBlock) })) });

/** The thoughts in a request, as they were sent. */
function thoughtsIn(body: unknown): object[] {
  const { messages } = SentBody.parse(body);
  return messages.flatMap(({ content }) => content.filter(({ type }) => type.endsWith('thinking')));
}

const model = useModels();

/** Goes on with a conversation: each call answers all that was said before, and a tool's results follow its calls. */
async function conversation(first: Partial<ModelRequest>) {
  const server = await model({ script: { steps: STEPS }, formats: ['anthropic'] });
  const provider = createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey: server.apiKey });
  let messages: readonly Message[] = [user('Read a.md and b.md.')];
  return {
    server,
    thoughts: (request: number) => thoughtsIn(server.requests[request]?.body),
    ask: async (fields: Partial<ModelRequest> = {}, only: readonly Message[] = []) => {
      const request = modelRequest({ outputTokensMax: 12_000, ...first, ...fields, messages: [...messages, ...only] });
      const { parts } = await provider.call({ ...request, requestOnlyMessages: only.length });
      const ids = parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
      messages = [
        ...messages,
        { id: `a${messages.length}`, role: 'assistant', parts: [...parts] },
        ...(ids.length > 0 ? [results(...ids)] : []),
      ];
      return parts;
    },
  };
}

describe('what a model thought, over the messages API', () => {
  it.each([
    ['that decides', ADAPTIVE],
    ['that is told a budget', BUDGET],
  ])('goes back to a model %s as it came, before the calls that it led to', async (_, thinking) => {
    const { ask, server, thoughts } = await conversation({ thinking });
    for (let turn = 0; turn < 3; turn += 1) await ask();
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
    expect(thoughts(2)).toMatchObject([{ thinking: 'I need a.md.' }, { thinking: 'And b.md.' }]);
    const [second] = SentBody.parse(server.requests[2]?.body).messages.slice(1);
    expect(second?.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
  });

  it('does not go back once what stood before it is gone: a warning of one request, say', async () => {
    const { ask, thoughts } = await conversation({ thinking: ADAPTIVE });
    await ask();
    await ask({}, [user('Two turns are left.')]);
    await ask();
    expect(thoughts(1)).toHaveLength(1);
    expect(thoughts(2)).toMatchObject([{ thinking: 'I need a.md.' }]);
  });

  it('goes back to a model that is told a budget also then: it asks only for how its answer began', async () => {
    const { ask, thoughts } = await conversation({ thinking: BUDGET });
    await ask();
    await ask({}, [user('Two turns are left.')]);
    await ask();
    expect(thoughts(2)).toHaveLength(2);
  });

  it.each<[string, Partial<ModelRequest>]>([
    ['another prompt', { prompt: 'You help little.' }],
    ['other tools', { tools: [{ name: 'read_file', description: 'Reads.', schema: { type: 'object' } }] }],
    ['another model', { model: 'other-model' }],
  ])('does not go to %s', async (_, fields) => {
    const { ask, server, thoughts } = await conversation({ thinking: ADAPTIVE });
    await ask();
    await ask(fields);
    expect(thoughts(1)).toEqual([]);
    expect(server.requests[1]?.outcome).toBe('answered');
  });

  it('another model that is told a budget does not think until its own answer begins', async () => {
    const { ask, server, thoughts } = await conversation({ thinking: BUDGET });
    await ask();
    await ask({ model: 'other-model' });
    expect(thoughts(1)).toEqual([]);
    expect(server.requests[1]).toMatchObject({ outcome: 'answered', body: { thinking: { type: 'disabled' } } });
  });
});

describe('what a model thought and the API hides', () => {
  it('is kept and goes back as it came, also after a call', async () => {
    const events = [
      { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'EncryptedWords==' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'read_file', input: {} } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ];
    const raw = await startRawServer(streamOf(...events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)));
    const strict = await model({ script: { steps: [{ text: 'unused' }, { text: 'Read.' }] }, formats: ['anthropic'] });
    try {
      const fields = { thinking: BUDGET, outputTokensMax: 12_000 };
      const { parts } = await createAnthropicProvider({ baseUrl: raw.url, apiKey: strict.apiKey }).call(modelRequest(fields));
      const [thought] = parts;
      expect(thought).toMatchObject({ type: 'thinking', text: '' });
      const kept: Part[] = JSON.parse(JSON.stringify(parts));
      const messages = [user('Read a.md and b.md.'), { ...calls('c1'), parts: kept }, results('c1')];
      const provider = createAnthropicProvider({ baseUrl: strict.anthropicBaseUrl, apiKey: strict.apiKey });
      expect((await provider.call(modelRequest({ ...fields, messages }))).stop).toBe('end');
      expect(thoughtsIn(strict.requests[0]?.body)).toEqual([{ type: 'redacted_thinking', data: 'EncryptedWords==' }]);
      expect(strict.requests[0]?.body).toMatchObject({ thinking: { type: 'enabled' } });
    } finally {
      await raw.close();
    }
  });
});
