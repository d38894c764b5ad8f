import type { ModelFacts } from '../../define/model-options.js';

const MISTRAL = { contextWindow: 262_144, tools: true, images: true } satisfies ModelFacts;
/** Thinks fully or not at all. */
const THINKS = { ...MISTRAL, thinkingStyle: 'effort', thinkingLevels: ['off', 'high'] } satisfies ModelFacts;
const PLAIN = { ...MISTRAL, thinkingStyle: 'none' } satisfies ModelFacts;
const CODE = { ...MISTRAL, contextWindow: 256_000, images: false } satisfies ModelFacts;

/** Mistral's models. Source: https://docs.mistral.ai/getting-started/models */
export const MISTRAL_MODELS: Readonly<Record<string, ModelFacts>> = {
  'mistral-large-4': { ...THINKS, contextWindow: 1_048_576, price: { input: 1.36, output: 4.18, cacheRead: 0.14 } },
  'mistral-large-latest': { ...PLAIN, price: { input: 0.5, output: 1.5, cacheRead: 0.05 } },
  'mistral-large-2512': { ...PLAIN, price: { input: 0.5, output: 1.5, cacheRead: 0.05 } },
  'mistral-medium-latest': { ...THINKS, price: { input: 1.5, output: 7.5, cacheRead: 0.15 } },
  'mistral-medium-3-5': { ...THINKS, price: { input: 1.5, output: 7.5, cacheRead: 0.15 } },
  'mistral-small-latest': { ...THINKS, price: { input: 0.15, output: 0.6, cacheRead: 0.015 } },
  'mistral-small-2603': { ...THINKS, price: { input: 0.15, output: 0.6, cacheRead: 0.015 } },
  'magistral-medium-latest': { ...MISTRAL, price: { input: 1.5, output: 7.5, cacheRead: 0.15 } },
  'magistral-small-latest': { ...MISTRAL, price: { input: 0.15, output: 0.6, cacheRead: 0.015 } },
  'devstral-latest': { ...CODE, price: { input: 0.4, output: 2, cacheRead: 0.04 } },
  'devstral-small-latest': { ...CODE, price: { input: 0.1, output: 0.3, cacheRead: 0.01 } },
  'codestral-latest': { ...CODE, contextWindow: 128_000, thinkingStyle: 'none', price: { input: 0.3, output: 0.9, cacheRead: 0.03 } },
  'ministral-14b-latest': { ...PLAIN, price: { input: 0.2, output: 0.2, cacheRead: 0.02 } },
  'ministral-8b-latest': { ...PLAIN, price: { input: 0.15, output: 0.15, cacheRead: 0.015 } },
  'ministral-3b-latest': { ...PLAIN, contextWindow: 131_072, price: { input: 0.1, output: 0.1, cacheRead: 0.01 } },
};
