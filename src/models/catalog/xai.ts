import type { ModelFacts } from '../../define/model-options.js';

const GROK = { contextWindow: 500_000, thinkingStyle: 'effort', tools: true, images: true } satisfies ModelFacts;
const GROK_4 = { ...GROK, contextWindow: 1_000_000 } satisfies ModelFacts;

const LONG = 200_000;

/** xAI's models. Source: https://docs.x.ai/docs/models */
export const XAI_MODELS: Readonly<Record<string, ModelFacts>> = {
  'grok-4.7': {
    ...GROK,
    price: doubledAboveLong({ input: 2, output: 6, cacheRead: 0.5 }),
  },
  'grok-4.6': {
    ...GROK,
    price: doubledAboveLong({ input: 2, output: 6, cacheRead: 0.5 }),
  },
  'grok-4.5': {
    ...GROK,
    price: doubledAboveLong({ input: 2, output: 6, cacheRead: 0.3 }),
  },
  'grok-4.3': {
    ...GROK_4,
    price: doubledAboveLong({ input: 1.25, output: 2.5, cacheRead: 0.2 }),
  },
  'grok-4.20': {
    ...GROK_4,
    price: doubledAboveLong({ input: 1.25, output: 2.5, cacheRead: 0.2 }),
  },
  'grok-4.20-non-reasoning': {
    ...GROK_4,
    thinkingStyle: 'none',
    price: doubledAboveLong({ input: 1.25, output: 2.5, cacheRead: 0.2 }),
  },
  'grok-build-0.1': {
    ...GROK,
    contextWindow: 256_000,
    price: doubledAboveLong({ input: 1, output: 2, cacheRead: 0.2 }),
  },
};

/** A longer prompt has twice each price. */
function doubledAboveLong({ input, output, cacheRead }: { readonly input: number; readonly output: number; readonly cacheRead: number }) {
  return { input, output, cacheRead, longPrompt: { aboveTokens: LONG, input: 2 * input, output: 2 * output, cacheRead: 2 * cacheRead } };
}
