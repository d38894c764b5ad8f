import type { ModelFacts } from '../../define/model-options.js';

const GROK = { contextWindow: 500_000, thinkingStyle: 'effort', tools: true, images: true } satisfies ModelFacts;
const GROK_4 = { ...GROK, contextWindow: 1_000_000 } satisfies ModelFacts;

const LONG = 200_000;

/** xAI's models. Source: https://docs.x.ai/docs/models */
export const XAI_MODELS: Readonly<Record<string, ModelFacts>> = {
  'grok-4.7': {
    ...GROK,
    price: { input: 2, output: 6, cacheRead: 0.5, longPrompt: { aboveTokens: LONG, input: 4, output: 12, cacheRead: 1 } },
  },
  'grok-4.6': {
    ...GROK,
    price: { input: 2, output: 6, cacheRead: 0.5, longPrompt: { aboveTokens: LONG, input: 4, output: 12, cacheRead: 1 } },
  },
  'grok-4.5': {
    ...GROK,
    price: { input: 2, output: 6, cacheRead: 0.3, longPrompt: { aboveTokens: LONG, input: 4, output: 12, cacheRead: 0.6 } },
  },
  'grok-4.3': {
    ...GROK_4,
    price: { input: 1.25, output: 2.5, cacheRead: 0.2, longPrompt: { aboveTokens: LONG, input: 2.5, output: 5, cacheRead: 0.4 } },
  },
  'grok-4.20': {
    ...GROK_4,
    price: { input: 1.25, output: 2.5, cacheRead: 0.2, longPrompt: { aboveTokens: LONG, input: 2.5, output: 5, cacheRead: 0.4 } },
  },
  'grok-4.20-non-reasoning': {
    ...GROK_4,
    thinkingStyle: 'none',
    price: { input: 1.25, output: 2.5, cacheRead: 0.2, longPrompt: { aboveTokens: LONG, input: 2.5, output: 5, cacheRead: 0.4 } },
  },
  'grok-build-0.1': {
    ...GROK,
    contextWindow: 256_000,
    price: { input: 1, output: 2, cacheRead: 0.2, longPrompt: { aboveTokens: LONG, input: 2, output: 4, cacheRead: 0.4 } },
  },
};
