import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { answering, askAiSdk, FINISH, TEXT, withResultImage } from '../support/ask-ai-sdk.js';

describe('thinking and cache keys of a model of the AI SDK', () => {
  it.each([
    ['openai.chat', { style: 'off' }, { openai: { reasoningEffort: 'none', promptCacheKey: 'k' } }],
    ['azure.chat', { style: 'effort', effort: 'minimal' }, { openai: { reasoningEffort: 'minimal', promptCacheKey: 'k' } }],
    ['openai.responses', { style: 'effort', effort: 'low' }, { openai: { reasoningEffort: 'low', promptCacheKey: 'k', store: false } }],
    ['anthropic.messages', { style: 'off' }, { anthropic: { thinking: { type: 'disabled' } } }],
    [
      'anthropic.messages',
      { style: 'adaptive', effort: 'minimal' },
      { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort: 'low' } },
    ],
    [
      'vertex.anthropic.messages',
      { style: 'budget', tokens: 2_000 },
      { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
    ],
    ['google.generative-ai', { style: 'off' }, { google: { thinkingConfig: { thinkingBudget: 0 } } }],
    ['google.vertex.chat', { style: 'budget', tokens: 9 }, { google: { thinkingConfig: { thinkingBudget: 9, includeThoughts: true } } }],
    [
      'google.vertex.chat',
      { style: 'effort', effort: 'low' },
      { google: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } } },
    ],
    ['nobody.chat', { style: 'effort', effort: 'low' }, {}],
  ] as const)('%s with %j has the options %j', async (provider, thinking, options) => {
    const model = answering([...TEXT, FINISH], provider);
    await askAiSdk(model, { thinking, cacheKey: 'k', outputTokensMax: 9_000 });
    expect(model.doStreamCalls[0]?.providerOptions).toEqual(options);
  });

  it("are overruled, option by option, by the config's own", async () => {
    const model = answering([...TEXT, FINISH], 'openai.responses');
    const providerOptions = { openai: { store: true, user: 'me' }, other: { a: 1 } };
    await askAiSdk(model, { thinking: { style: 'effort', effort: 'low' } }, { providerOptions });
    expect(model.doStreamCalls[0]?.providerOptions).toEqual({
      openai: { reasoningEffort: 'low', store: true, user: 'me' },
      other: { a: 1 },
    });
  });

  it('a budget of Claude is part of the output limit, also where its package adds it, and leaves room for an answer', async () => {
    const model = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(model, { thinking: { style: 'budget', tokens: 30_000 }, outputTokensMax: 20_000 });
    const [call] = model.doStreamCalls;
    const budgetTokens = 20_000 - MODEL_LIMITS.outputTokensDefault;
    expect(call?.providerOptions).toEqual({ anthropic: { thinking: { type: 'enabled', budgetTokens } } });
    expect(call?.maxOutputTokens).toBe(MODEL_LIMITS.outputTokensDefault);
  });

  it('Claude does not begin to think in the midst of calls: its server refuses that', async () => {
    const model = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(model, { thinking: { style: 'budget', tokens: 2_000 }, outputTokensMax: 9_000, messages: withResultImage() });
    expect(model.doStreamCalls[0]).toMatchObject({
      providerOptions: { anthropic: { thinking: { type: 'disabled' } } },
      maxOutputTokens: 9_000,
    });
  });

  it('a call is not forced from a Claude that thinks: its server refuses that', async () => {
    const thinks = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(thinks, { toolChoice: 'required', thinking: { style: 'budget', tokens: 2_000 }, outputTokensMax: 9_000 });
    expect(thinks.doStreamCalls[0]?.toolChoice).toEqual({ type: 'auto' });
    const doesNot = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(doesNot, { toolChoice: 'required', thinking: { style: 'off' } });
    expect(doesNot.doStreamCalls[0]?.toolChoice).toEqual({ type: 'required' });
  });

  it('the prompt of Claude, the transcript and what it was before are marked to be kept; what is said once stands behind the marks', async () => {
    const model = answering([...TEXT, FINISH], 'anthropic.messages');
    const once: Message = { id: 'w', role: 'user', parts: [{ type: 'text', text: 'Only now.' }] };
    await askAiSdk(model, { messages: [...withResultImage(), once], requestOnlyMessages: 1 });
    const marks = model.doStreamCalls[0]?.prompt.map(({ role, providerOptions }) => [role, providerOptions?.['anthropic'] !== undefined]);
    expect(marks).toEqual([
      ['system', true],
      ['user', true],
      ['assistant', false],
      ['tool', true],
      ['user', false],
    ]);
    const plain = answering([...TEXT, FINISH], 'openai.chat');
    await askAiSdk(plain, { messages: withResultImage() });
    expect(plain.doStreamCalls[0]?.prompt.every(({ providerOptions }) => providerOptions === undefined)).toBe(true);
  });

  it('Mistral gets call ids of nine letters and digits, the same for a call and its result', async () => {
    const model = answering([...TEXT, FINISH], 'mistral.chat');
    await askAiSdk(model, { messages: withResultImage() });
    const text = JSON.stringify(model.doStreamCalls[0]?.prompt);
    const ids = [...text.matchAll(/"toolCallId":"([^"]+)"/gu)].map((match) => match[1]);
    expect(ids).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/u), ids[0]]);
    expect(text).toContain('[file image/png]');
  });
});
