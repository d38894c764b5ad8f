import type { ModelFacts } from '../../define/model-options.js';

const GPT_OSS = {
  contextWindow: 131_072,
  thinkingStyle: 'effort',
  thinkingLevels: ['low', 'medium', 'high'],
  tools: true,
  images: false,
} satisfies ModelFacts;

/** Open models on Groq. Source: https://groq.com/pricing */
export const GROQ_MODELS: Readonly<Record<string, ModelFacts>> = {
  'openai/gpt-oss-120b': { ...GPT_OSS, outputTokensMax: 65_536, price: { input: 0.15, output: 0.6, cacheRead: 0.075 } },
  'openai/gpt-oss-20b': { ...GPT_OSS, outputTokensMax: 65_536, price: { input: 0.075, output: 0.3, cacheRead: 0.0375 } },
  'qwen/qwen3.8-27b': { contextWindow: 131_072, outputTokensMax: 16_384, tools: true, images: true, price: { input: 0.8, output: 4 } },
};

/** Open models on Together AI. Source: https://www.together.ai/pricing */
export const TOGETHER_MODELS: Readonly<Record<string, ModelFacts>> = {
  'openai/gpt-oss-120b': { ...GPT_OSS, price: { input: 0.15, output: 0.6 } },
  'moonshotai/Kimi-K3': { contextWindow: 1_048_576, tools: true, images: true, price: { input: 3, output: 15, cacheRead: 0.3 } },
  'zai-org/GLM-5.3': {
    contextWindow: 1_048_575,
    outputTokensMax: 128_000,
    tools: true,
    images: false,
    price: { input: 1.4, output: 4.4, cacheRead: 0.26 },
  },
  'zai-org/GLM-5.3-Flash': {
    contextWindow: 1_048_575,
    outputTokensMax: 128_000,
    tools: true,
    images: true,
    price: { input: 0.15, output: 0.5, cacheRead: 0.03 },
  },
  'deepseek-ai/DeepSeek-V4-Pro-0813': { contextWindow: 1_048_576, tools: true, price: { input: 1.32, output: 3.96, cacheRead: 0.13 } },
  'deepseek-ai/DeepSeek-V4.1-Flash': { contextWindow: 1_048_576, tools: true, price: { input: 0.3, output: 1.2, cacheRead: 0.006 } },
  'Qwen/Qwen3.5-9B': { contextWindow: 262_144, tools: true, images: true, price: { input: 0.17, output: 0.25 } },
};
