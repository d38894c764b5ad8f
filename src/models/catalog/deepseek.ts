import type { ModelFacts } from '../../define/model-options.js';

const DEEPSEEK = {
  contextWindow: 1_000_000,
  outputTokensMax: 393_216,
  thinkingStyle: 'effort',
  thinkingLevels: ['off', 'high'],
  tools: true,
} satisfies ModelFacts;

/** DeepSeek's models, at their dearer hours: the cheaper ones cost half. Source: https://api-docs.deepseek.com/quick_start/pricing */
export const DEEPSEEK_MODELS: Readonly<Record<string, ModelFacts>> = {
  'deepseek-flash': { ...DEEPSEEK, images: true, price: { input: 0.3, output: 1.2, cacheRead: 0.006 } },
  'deepseek-v4-flash': { ...DEEPSEEK, images: true, price: { input: 0.3, output: 1.2, cacheRead: 0.006 } },
  'deepseek-v4-pro': { ...DEEPSEEK, images: false, price: { input: 1.32, output: 3.96, cacheRead: 0.044 } },
};
