import { describe, expect, it } from 'vitest';
import { createPrepareRun } from '../../src/activities/prepare/prepare-run.js';
import { MODEL_LIMITS } from '../../src/contracts/constants/limits.js';
import { ModelFacts } from '../../src/define/model-options.js';
import { KNOWN_MODELS, MODELS_AS_OF } from '../../src/models/catalog/models.js';
import { modelFacts } from '../../src/models/model-facts.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';
import { KNOWN_PROVIDERS } from '../../src/providers/access/provider-catalog.js';

const priceOf = (model: string, prices = {}) => modelFacts(model, { prices }).price;
const contextWindowOf = (model: string, contextWindows = {}) => modelFacts(model, { contextWindows }).contextWindow;
const levelsOver = (api: 'openai-chat' | 'openai-responses') =>
  modelFacts('openai/gpt-5.4-mini', { providers: { openai: { api, baseUrl: 'https://gateway.example/v1' } } }).thinkingLevels;

describe('modelFacts', () => {
  it('a dated snapshot costs what its undated name costs', () => {
    const price = priceOf('anthropic/claude-sonnet-4-5');
    expect(price).toMatchObject({ input: 3, output: 15 });
    expect(priceOf('anthropic/claude-sonnet-4-5-20250929')).toEqual(price);
    expect(priceOf('openai/gpt-4o-2024-08-06')).toEqual(priceOf('openai/gpt-4o'));
    expect(contextWindowOf('anthropic/claude-sonnet-4-5-20250929')).toBe(200_000);
  });

  it("OpenAI's models think when the config has their provider speak Responses, as a gateway's may", () => {
    expect(levelsOver('openai-chat')).toEqual(['off']);
    expect(levelsOver('openai-responses')).toEqual(modelFacts('openai-responses/gpt-5.4-mini').thinkingLevels);
  });

  it('the price of the config goes before the list', () => {
    expect(priceOf('openai/gpt-5', { 'openai/gpt-5': { input: 9, output: 9 } })).toEqual({ input: 9, output: 9 });
  });

  it('an unknown model has no price, a local one costs nothing', () => {
    expect(priceOf('openai/unheard-of')).toBeUndefined();
    expect(priceOf('constructor')).toBeUndefined();
    expect(priceOf('ollama/llama3')).toEqual({ input: 0, output: 0 });
    expect(priceOf('scripted/a.yaml')).toEqual({ input: 0, output: 0 });
  });

  it('D-10: the window of a model is that of its undated name; the one of the config goes before it', () => {
    expect(contextWindowOf('openai/gpt-4o-2024-08-06')).toBe(128_000);
    expect(contextWindowOf('anthropic/claude-sonnet-4-5-latest')).toBe(200_000);
    expect(contextWindowOf('anthropic/claude-sonnet-4-5', { 'anthropic/claude-sonnet-4-5': 32_000 })).toBe(32_000);
    expect(contextWindowOf('ollama/llama3', { 'ollama/llama3': 8_192 })).toBe(8_192);
    expect(contextWindowOf('openai/unheard-of', { 'openai/other': 1_000 })).toBeUndefined();
    expect(contextWindowOf('constructor', {})).toBeUndefined();
  });

  it.each([
    ['scripted/x', {}, MODEL_LIMITS.contextWindowDefault],
    ['scripted/x', { 'scripted/x': 8_192 }, 8_192],
    ['scripted/x', { 'scripted/y': 8_192 }, MODEL_LIMITS.contextWindowDefault],
  ])('D-10: a run of %s with the windows %j of the config has %i tokens', async (model, contextWindows, tokens) => {
    const options = { configHash: 'test', keys: captureKeys({}), env: {}, workspaceTools: [], searchAttributes: [] };
    const prepareRun = createPrepareRun({ ...options, config: { contextWindows } });
    expect(await prepareRun({ runId: 'r', input: { task: 'x', model } })).toMatchObject({ contextWindow: tokens });
  });

  it.each([
    ['azure/gpt-5-mini', 'openai/gpt-5-mini'],
    ['openrouter/openai/gpt-5.4', 'openai-responses/gpt-5.4'],
    ['openrouter/anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5'],
    ['openrouter/google/gemini-2.5-pro', 'gemini/gemini-2.5-pro'],
    ['openrouter/x-ai/grok-4.7', 'xai/grok-4.7'],
    ['openai-responses/gpt-4o-2024-08-06', 'openai/gpt-4o'],
  ])('%s is sold at the price of %s, and can do the same', (name, same) => {
    expect(modelFacts(name)).toEqual(modelFacts(same));
    expect(modelFacts(name).price).toBeDefined();
  });

  it('what OpenRouter sells of others, and its variants, have prices of their own that are not known', () => {
    expect(priceOf('openrouter/deepseek/deepseek-v4-pro')).toBeUndefined();
    expect(priceOf('openrouter/anthropic/claude-sonnet-4.5:beta')).toBeUndefined();
    expect(priceOf('openrouter/auto')).toBeUndefined();
  });

  it('what the chat API of OpenAI refuses to do with tools is not among the facts there, but at the Responses API', () => {
    expect(modelFacts('openai/gpt-5.6').thinkingLevels).toEqual(['off']);
    expect(modelFacts('openai-responses/gpt-5.6').thinkingLevels).toEqual(['off', 'low', 'medium', 'high']);
    expect(modelFacts('openai/gpt-6-astra').tools).toBe(false);
    expect(modelFacts('openai-responses/gpt-6-astra').tools).toBe(true);
    expect(modelFacts('openai/gpt-5.1')).toEqual(modelFacts('openai-responses/gpt-5.1'));
    expect(modelFacts('openai/o3-pro')).toEqual({});
  });

  it('a fact of the config goes before that of the data file, the others stay', () => {
    const models = { 'anthropic/claude-sonnet-4-5': { images: false, contextWindow: 1_000 } };
    const known = modelFacts('anthropic/claude-sonnet-4-5');
    expect(modelFacts('anthropic/claude-sonnet-4-5', { models })).toEqual({ ...known, images: false, contextWindow: 1_000 });
  });

  it('the list says of when it is', () => {
    expect(MODELS_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/u);
    expect(Date.parse(MODELS_AS_OF)).toBeLessThan(Date.now());
  });

  it('each provider of the list is a known one', () => {
    expect(Object.keys(KNOWN_MODELS).filter((name) => !Object.hasOwn(KNOWN_PROVIDERS, name))).toEqual([]);
  });

  it.each(
    Object.entries(KNOWN_MODELS).flatMap(([provider, models]) =>
      Object.entries(models).map(([name, facts]) => [`${provider}/${name}`, facts] as const),
    ),
  )('%s has a price that makes sense, a window, and levels that go with its way of thinking', (name, facts) => {
    expect(ModelFacts.parse(facts)).toEqual(facts);
    expect(modelFacts(name)).toEqual(facts);
    const { price, contextWindow = 0, outputTokensMax = 0, thinkingStyle = 'none', thinkingLevels = [] } = facts;
    for (const { input, output, cacheRead = 0 } of [price, price?.longPrompt].filter((rates) => rates !== undefined)) {
      expect(output).toBeGreaterThanOrEqual(input);
      expect(cacheRead).toBeLessThan(input);
    }
    expect(price?.longPrompt?.input ?? Infinity).toBeGreaterThan(price?.input ?? 0);
    expect(contextWindow).toBeGreaterThanOrEqual(128_000);
    expect(outputTokensMax).toBeLessThan(contextWindow);
    expect(thinkingStyle === 'none' && thinkingLevels.length > 0).toBe(false);
  });
});
