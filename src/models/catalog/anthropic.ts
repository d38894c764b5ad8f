import type { ModelFacts } from '../../define/model-options.js';

const CLAUDE = { tools: true, images: true } satisfies ModelFacts;
const SMALL = { ...CLAUDE, contextWindow: 200_000, outputTokensMax: 64_000 } satisfies ModelFacts;
const LARGE = { ...CLAUDE, contextWindow: 1_000_000, outputTokensMax: 128_000 } satisfies ModelFacts;

/** Thinks for as many tokens as it is told. */
const BUDGET = { ...SMALL, thinkingStyle: 'budget' } satisfies ModelFacts;
/** Decides by itself how much to think, within a level. */
const ADAPTIVE = { ...LARGE, thinkingStyle: 'adaptive', thinkingLevels: ['off', 'low', 'medium', 'high'] } satisfies ModelFacts;
const ALWAYS_THINKS = { ...ADAPTIVE, thinkingLevels: ['low', 'medium', 'high'] } satisfies ModelFacts;

const LONG = 100_000;

/**
 * Anthropic's models. Cache writes are those that are kept for five minutes. Source: https://platform.claude.com/docs/en/about-claude/pricing
 */
export const ANTHROPIC_MODELS: Readonly<Record<string, ModelFacts>> = {
  'claude-fable-5-1': { ...ALWAYS_THINKS, price: { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5 } },
  'claude-mythos-5-1': { ...ALWAYS_THINKS, price: { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5 } },
  'claude-opus-5-5': { ...ALWAYS_THINKS, price: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 } },
  'claude-sonnet-5-5': { ...ALWAYS_THINKS, price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 } },
  'claude-haiku-5-5': {
    ...ADAPTIVE,
    price: {
      input: 0.1,
      output: 0.5,
      cacheRead: 0.01,
      cacheWrite: 0.125,
      longPrompt: { aboveTokens: LONG, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 },
    },
  },
  'claude-fable-5': { ...ALWAYS_THINKS, price: { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 } },
  'claude-mythos-5': { ...ALWAYS_THINKS, price: { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 } },
  'claude-opus-5': { ...ADAPTIVE, price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 } },
  'claude-sonnet-5': { ...ADAPTIVE, price: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } },
  'claude-opus-4-8': { ...ADAPTIVE, price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 } },
  'claude-opus-4-7': { ...ADAPTIVE, price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 } },
  'claude-opus-4-6': { ...ADAPTIVE, price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 } },
  'claude-sonnet-4-6': { ...ADAPTIVE, price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
  'claude-opus-4-5': { ...BUDGET, price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 } },
  'claude-sonnet-4-5': { ...BUDGET, price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
  'claude-haiku-4-5': { ...BUDGET, price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 } },
};
