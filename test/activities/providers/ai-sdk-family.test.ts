import { describe, expect, it } from 'vitest';
import { answering, askAiSdk, FINISH, TEXT, withResultImage } from './support/ask-ai-sdk.js';

describe('thinking and cache keys of a model of the AI SDK', () => {
  it.each([
    ['openai.chat', { style: 'off' }, { openai: { reasoningEffort: 'none', promptCacheKey: 'k' } }],
    ['azure.chat', { style: 'effort', effort: 'minimal' }, { openai: { reasoningEffort: 'minimal', promptCacheKey: 'k' } }],
    ['openai.responses', { style: 'effort', effort: 'low' }, { openai: { reasoningEffort: 'low', promptCacheKey: 'k', store: false } }],
    ['anthropic.messages', { style: 'off' }, { anthropic: { thinking: { type: 'disabled' } } }],
    ['anthropic.messages', { style: 'adaptive', effort: 'minimal' }, { anthropic: { thinking: { type: 'adaptive' }, effort: 'low' } }],
    ['vertex.anthropic.messages', { style: 'budget', tokens: 9 }, { anthropic: { thinking: { type: 'enabled', budgetTokens: 9 } } }],
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
    await askAiSdk(model, { thinking, cacheKey: 'k' });
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

  it('a call is not forced from a Claude that thinks: its server refuses that', async () => {
    const thinks = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(thinks, { toolChoice: 'required', thinking: { style: 'budget', tokens: 2_000 } });
    expect(thinks.doStreamCalls[0]?.toolChoice).toEqual({ type: 'auto' });
    const doesNot = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(doesNot, { toolChoice: 'required', thinking: { style: 'off' } });
    expect(doesNot.doStreamCalls[0]?.toolChoice).toEqual({ type: 'required' });
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
