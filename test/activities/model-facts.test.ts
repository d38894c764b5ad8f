import { describe, expect, it } from 'vitest';
import { MODEL_FACTS, PRICES_AS_OF } from '../../src/activities/data/prices.js';
import { captureKeys } from '../../src/activities/key-ring.js';
import { modelFacts } from '../../src/activities/model-facts.js';
import { createPrepareRun } from '../../src/activities/prepare-run.js';
import { MODEL_LIMITS } from '../../src/contracts/limits.js';
import { ModelPrice } from '../../src/contracts/model.js';
import { parseModelRef } from '../../src/contracts/model-ref.js';

const priceOf = (model: string, prices = {}) => modelFacts(model, { prices }).price;
const contextWindowOf = (model: string, contextWindows = {}) => modelFacts(model, { contextWindows }).contextWindow;

describe('modelFacts', () => {
  it('a dated snapshot costs what its undated name costs', () => {
    const price = priceOf('anthropic/claude-sonnet-4-5');
    expect(price).toMatchObject({ input: 3, output: 15 });
    expect(priceOf('anthropic/claude-sonnet-4-5-20250929')).toEqual(price);
    expect(priceOf('openai/gpt-4o-2024-08-06')).toEqual(priceOf('openai/gpt-4o'));
    expect(contextWindowOf('anthropic/claude-sonnet-4-5-20250929')).toBe(200_000);
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

  it('the list says of when it is', () => {
    expect(Date.parse(PRICES_AS_OF)).toBeLessThan(Date.now());
  });

  it.each(Object.entries(MODEL_FACTS))(
    '%s has a price, cache reads cheaper than input, output dearer',
    (name, { price, contextWindow }) => {
      expect(parseModelRef(name)).toBeDefined();
      expect(ModelPrice.parse(price)).toEqual(price);
      expect(price?.output).toBeGreaterThan(price?.input ?? 0);
      expect(price?.cacheRead).toBeLessThan(price?.input ?? 0);
      expect(contextWindow).toBeGreaterThanOrEqual(128_000);
    },
  );
});
