import type { ModelFacts } from '../../define/model-options.js';

const GEMINI = {
  contextWindow: 1_048_576,
  outputTokensMax: 65_536,
  thinkingStyle: 'effort',
  tools: true,
  images: true,
} satisfies ModelFacts;
const GEMINI_2_5 = { ...GEMINI, thinkingLevels: ['off', 'low', 'medium', 'high'] } satisfies ModelFacts;
const GEMINI_3 = { ...GEMINI, thinkingLevels: ['minimal', 'low', 'medium', 'high'] } satisfies ModelFacts;
const ALWAYS_THINKS = { ...GEMINI, thinkingLevels: ['low', 'medium', 'high'] } satisfies ModelFacts;

const LONG = 200_000;

/** Google's Gemini models. What is kept in a cache by the hour is not counted. Source: https://ai.google.dev/gemini-api/docs/pricing */
export const GEMINI_MODELS: Readonly<Record<string, ModelFacts>> = {
  'gemini-4-argon': { ...ALWAYS_THINKS, price: { input: 2, output: 10, cacheRead: 0.1 } },
  'gemini-3.8-flash': { ...ALWAYS_THINKS, price: { input: 0.75, output: 3.75, cacheRead: 0.075 } },
  'gemini-3.7-flash': { ...ALWAYS_THINKS, price: { input: 0.75, output: 3.75, cacheRead: 0.075 } },
  'gemini-3.6-flash': { ...GEMINI_3, price: { input: 0.75, output: 3.75, cacheRead: 0.075 } },
  'gemini-3.5-flash': { ...GEMINI_3, price: { input: 1.5, output: 9, cacheRead: 0.15 } },
  'gemini-3.5-flash-lite': { ...GEMINI_3, price: { input: 0.3, output: 2.5, cacheRead: 0.03 } },
  'gemini-3.1-pro-preview': {
    ...ALWAYS_THINKS,
    price: { input: 2, output: 12, cacheRead: 0.2, longPrompt: { aboveTokens: LONG, input: 4, output: 18, cacheRead: 0.4 } },
  },
  'gemini-3.1-flash-lite': { ...GEMINI_3, price: { input: 0.25, output: 1.5, cacheRead: 0.025 } },
  'gemini-3-flash-preview': { ...GEMINI_3, price: { input: 0.5, output: 3, cacheRead: 0.05 } },
  'gemini-2.5-pro': {
    ...ALWAYS_THINKS,
    price: { input: 1.25, output: 10, cacheRead: 0.125, longPrompt: { aboveTokens: LONG, input: 2.5, output: 15, cacheRead: 0.25 } },
  },
  'gemini-2.5-flash': { ...GEMINI_2_5, price: { input: 0.3, output: 2.5, cacheRead: 0.03 } },
  'gemini-2.5-flash-lite': { ...GEMINI_2_5, price: { input: 0.1, output: 0.4, cacheRead: 0.01 } },
};
