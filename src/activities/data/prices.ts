import type { ModelFacts } from '../../define/model-options.js';

/**
 * When the list below was last compared with the providers' price pages; `prices` of a config overrides it.
 * Sources: https://platform.claude.com/docs/en/about-claude/pricing, https://developers.openai.com/api/docs/pricing
 */
export const PRICES_AS_OF = '2026-10-24';

/**
 * USD per million tokens and context windows, by `provider/model`. A dated snapshot also matches its undated name. A model whose price
 * depends on the length of the prompt is left out: one price would understate it, and a money cap needs to hold.
 */
export const MODEL_FACTS: Readonly<Record<string, ModelFacts>> = {
  'anthropic/claude-opus-5-5': { price: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 }, contextWindow: 1_000_000 },
  'anthropic/claude-opus-5': { price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }, contextWindow: 1_000_000 },
  'anthropic/claude-opus-4-6': { price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }, contextWindow: 1_000_000 },
  'anthropic/claude-opus-4-5': { price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }, contextWindow: 200_000 },
  'anthropic/claude-opus-4-1': { price: { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 }, contextWindow: 200_000 },
  'anthropic/claude-sonnet-5-5': { price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 }, contextWindow: 1_000_000 },
  'anthropic/claude-sonnet-5': { price: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }, contextWindow: 1_000_000 },
  'anthropic/claude-sonnet-4-6': { price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, contextWindow: 1_000_000 },
  'anthropic/claude-sonnet-4-5': { price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, contextWindow: 200_000 },
  'anthropic/claude-sonnet-4': { price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, contextWindow: 200_000 },
  'anthropic/claude-haiku-4-5': { price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }, contextWindow: 200_000 },
  'anthropic/claude-3-5-haiku': { price: { input: 0.8, output: 4, cacheRead: 0.08, cacheWrite: 1 }, contextWindow: 200_000 },
  'openai/gpt-5.4-mini': { price: { input: 0.75, output: 4.5, cacheRead: 0.075 }, contextWindow: 400_000 },
  'openai/gpt-5.1': { price: { input: 1.25, output: 10, cacheRead: 0.125 }, contextWindow: 400_000 },
  'openai/gpt-5': { price: { input: 1.25, output: 10, cacheRead: 0.125 }, contextWindow: 400_000 },
  'openai/gpt-5-mini': { price: { input: 0.25, output: 2, cacheRead: 0.025 }, contextWindow: 400_000 },
  'openai/gpt-5-nano': { price: { input: 0.05, output: 0.4, cacheRead: 0.005 }, contextWindow: 400_000 },
  'openai/gpt-4.1': { price: { input: 2, output: 8, cacheRead: 0.5 }, contextWindow: 1_047_576 },
  'openai/gpt-4.1-mini': { price: { input: 0.4, output: 1.6, cacheRead: 0.1 }, contextWindow: 1_047_576 },
  'openai/gpt-4o': { price: { input: 2.5, output: 10, cacheRead: 1.25 }, contextWindow: 128_000 },
  'openai/gpt-4o-mini': { price: { input: 0.15, output: 0.6, cacheRead: 0.075 }, contextWindow: 128_000 },
};
