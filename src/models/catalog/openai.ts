import type { ModelFacts } from '../../define/model-options.js';

const LONG = 272_000;

const REASONING = { outputTokensMax: 128_000, thinkingStyle: 'effort', tools: true, images: true } satisfies ModelFacts;

// of windows of 400,000 and 1,050,000 tokens in all, what can be read beside the longest answer
const SMALL = { ...REASONING, contextWindow: 272_000 } satisfies ModelFacts;
const LARGE = { ...REASONING, contextWindow: 922_000 } satisfies ModelFacts;

const GPT_5 = { ...SMALL, thinkingLevels: ['minimal', 'low', 'medium', 'high'] } satisfies ModelFacts;
const GPT_5_1 = { ...SMALL, thinkingLevels: ['off', 'low', 'medium', 'high'] } satisfies ModelFacts;
const GPT_5_4 = { ...LARGE, thinkingLevels: ['off', 'low', 'medium', 'high'] } satisfies ModelFacts;
const ALWAYS_THINKS = { ...LARGE, thinkingLevels: ['low', 'medium', 'high'] } satisfies ModelFacts;
const GPT_5_6_SOL = {
  ...GPT_5_4,
  price: {
    input: 4,
    output: 20,
    cacheRead: 0.4,
    cacheWrite: 5,
    longPrompt: { aboveTokens: LONG, input: 8, output: 30, cacheRead: 0.8, cacheWrite: 10 },
  },
} satisfies ModelFacts;
const PRO = { ...LARGE, thinkingLevels: ['medium', 'high'] } satisfies ModelFacts;
const O3 = {
  ...REASONING,
  contextWindow: 200_000,
  outputTokensMax: 100_000,
  thinkingLevels: ['low', 'medium', 'high'],
} satisfies ModelFacts;
const GPT_4_1 = {
  contextWindow: 1_047_576,
  outputTokensMax: 32_768,
  thinkingStyle: 'none',
  tools: true,
  images: true,
} satisfies ModelFacts;
const GPT_4O = { ...GPT_4_1, contextWindow: 128_000, outputTokensMax: 16_384 } satisfies ModelFacts;

/** OpenAI's models, as its Responses API offers them. Source: https://developers.openai.com/api/docs/pricing */
export const OPENAI_MODELS: Readonly<Record<string, ModelFacts>> = {
  'gpt-6.1-sol': {
    ...ALWAYS_THINKS,
    price: {
      input: 2,
      output: 10,
      cacheRead: 0.1,
      cacheWrite: 2.5,
      longPrompt: { aboveTokens: LONG, input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 },
    },
  },
  'gpt-6.1-terra': {
    ...GPT_5_4,
    price: {
      input: 1,
      output: 5,
      cacheRead: 0.05,
      cacheWrite: 1.25,
      longPrompt: { aboveTokens: LONG, input: 2, output: 7.5, cacheRead: 0.1, cacheWrite: 2.5 },
    },
  },
  'gpt-6-astra': {
    ...ALWAYS_THINKS,
    price: {
      input: 10,
      output: 50,
      cacheRead: 1,
      cacheWrite: 12.5,
      longPrompt: { aboveTokens: LONG, input: 20, output: 75, cacheRead: 2, cacheWrite: 25 },
    },
  },
  'gpt-6-sol': {
    ...GPT_5_4,
    price: {
      input: 2,
      output: 10,
      cacheRead: 0.2,
      cacheWrite: 2.5,
      longPrompt: { aboveTokens: LONG, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 },
    },
  },
  'gpt-6-luna': {
    ...GPT_5_4,
    price: {
      input: 0.1,
      output: 0.5,
      cacheRead: 0.01,
      cacheWrite: 0.125,
      longPrompt: { aboveTokens: LONG, input: 0.2, output: 0.75, cacheRead: 0.02, cacheWrite: 0.25 },
    },
  },
  'gpt-5.6': GPT_5_6_SOL,
  'gpt-5.6-sol': GPT_5_6_SOL,
  'gpt-5.6-terra': {
    ...GPT_5_4,
    price: {
      input: 2,
      output: 12,
      cacheRead: 0.2,
      cacheWrite: 2.5,
      longPrompt: { aboveTokens: LONG, input: 4, output: 18, cacheRead: 0.4, cacheWrite: 5 },
    },
  },
  'gpt-5.6-luna': {
    ...GPT_5_4,
    price: {
      input: 0.2,
      output: 1.2,
      cacheRead: 0.02,
      cacheWrite: 0.25,
      longPrompt: { aboveTokens: LONG, input: 0.4, output: 1.8, cacheRead: 0.04, cacheWrite: 0.5 },
    },
  },
  'gpt-5.5': {
    ...GPT_5_4,
    price: { input: 5, output: 30, cacheRead: 0.5, longPrompt: { aboveTokens: LONG, input: 10, output: 45, cacheRead: 1 } },
  },
  'gpt-5.5-pro': { ...PRO, price: { input: 30, output: 180, longPrompt: { aboveTokens: LONG, input: 60, output: 270 } } },
  'gpt-5.4': {
    ...GPT_5_4,
    price: { input: 2.5, output: 15, cacheRead: 0.25, longPrompt: { aboveTokens: LONG, input: 5, output: 22.5, cacheRead: 0.5 } },
  },
  'gpt-5.4-pro': { ...PRO, price: { input: 30, output: 180, longPrompt: { aboveTokens: LONG, input: 60, output: 270 } } },
  'gpt-5.4-mini': { ...GPT_5_1, price: { input: 0.75, output: 4.5, cacheRead: 0.075 } },
  'gpt-5.4-nano': { ...GPT_5_1, price: { input: 0.2, output: 1.25, cacheRead: 0.02 } },
  'gpt-5.3-codex': { ...GPT_5_1, price: { input: 1.75, output: 14, cacheRead: 0.175 } },
  'gpt-5.2': { ...GPT_5_1, price: { input: 1.75, output: 14, cacheRead: 0.175 } },
  'gpt-5.1': { ...GPT_5_1, price: { input: 1.25, output: 10, cacheRead: 0.125 } },
  'gpt-5': { ...GPT_5, price: { input: 1.25, output: 10, cacheRead: 0.125 } },
  'gpt-5-mini': { ...GPT_5, price: { input: 0.25, output: 2, cacheRead: 0.025 } },
  'gpt-5-nano': { ...GPT_5, price: { input: 0.05, output: 0.4, cacheRead: 0.005 } },
  o3: { ...O3, price: { input: 2, output: 8, cacheRead: 0.5 } },
  'o3-pro': { ...O3, price: { input: 20, output: 80 } },
  'gpt-4.1': { ...GPT_4_1, price: { input: 2, output: 8, cacheRead: 0.5 } },
  'gpt-4.1-mini': { ...GPT_4_1, price: { input: 0.4, output: 1.6, cacheRead: 0.1 } },
  'gpt-4o': { ...GPT_4O, price: { input: 2.5, output: 10, cacheRead: 1.25 } },
  'gpt-4o-mini': { ...GPT_4O, price: { input: 0.15, output: 0.6, cacheRead: 0.075 } },
};

/** Models that only the Responses API offers. */
const RESPONSES_ONLY: ReadonlySet<string> = new Set(['gpt-5.5-pro', 'gpt-5.4-pro', 'gpt-5.3-codex', 'o3-pro']);

/** Models that the chat API refuses to let think and call tools in one request: "use /v1/responses or set reasoning_effort to 'none'". */
const THINKS_OR_CALLS = /^gpt-(?:5\.[4-9]|[6-9])/u;

/** The same models as OpenAI's chat completions offer them to agents, which have tools: the newer ones without thinking, or without tools. */
export const OPENAI_CHAT_MODELS: Readonly<Record<string, ModelFacts>> = Object.fromEntries(
  Object.entries(OPENAI_MODELS)
    .filter(([name]) => !RESPONSES_ONLY.has(name))
    .map(([name, facts]) => [name, THINKS_OR_CALLS.test(name) ? withoutThinking(facts) : facts]),
);

function withoutThinking(facts: ModelFacts): ModelFacts {
  return facts.thinkingLevels?.includes('off') ? { ...facts, thinkingLevels: ['off'] } : { ...facts, tools: false };
}
