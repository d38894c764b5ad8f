import { describe, expect, it } from 'vitest';
import { THINKING_LIMITS } from '../../src/contracts/constants/limits.js';
import { THINKING_LEVELS } from '../../src/contracts/constants/thinking-levels.js';
import type { ThinkingSetting } from '../../src/contracts/schemas/model.js';
import type { ModelFacts } from '../../src/define/model-options.js';
import { KNOWN_MODELS } from '../../src/models/catalog/models.js';
import { modelFacts } from '../../src/models/model-facts.js';
import { nearestOrder, nearestThinking, thinkingOrder } from '../../src/models/thinking-request.js';
import { chatThinking } from '../../src/providers/openai/chat/body.js';

const GPT: ModelFacts = { thinkingStyle: 'effort', thinkingLevels: ['off', 'low', 'medium', 'high'] };
const ALWAYS: ModelFacts = { thinkingStyle: 'effort', thinkingLevels: ['high', 'low'] };
const BUDGET: ModelFacts = { thinkingStyle: 'budget', outputTokensMax: 32_000 };
const ADAPTIVE: ModelFacts = { thinkingStyle: 'adaptive' };
const NEVER: ModelFacts = { thinkingStyle: 'none' };
const UNKNOWN: ModelFacts = {};

describe('thinkingOrder', () => {
  it.each<[ThinkingSetting, string, ModelFacts, unknown]>([
    ['high', 'a model of levels', GPT, { style: 'effort', effort: 'high' }],
    ['off', 'a model of levels', GPT, { style: 'off' }],
    ['low', 'a model that decides within a level', ADAPTIVE, { style: 'adaptive', effort: 'low' }],
    ['off', 'a model that decides within a level', ADAPTIVE, { style: 'off' }],
    ['minimal', 'a model of budgets', BUDGET, { style: 'budget', tokens: THINKING_LIMITS.budgetTokens.minimal }],
    ['high', 'a model of budgets', BUDGET, { style: 'budget', tokens: THINKING_LIMITS.budgetTokens.high }],
    ['high', 'a model of budgets with short answers', { ...BUDGET, outputTokensMax: 8_192 }, { style: 'budget', tokens: 8_192 - 256 }],
    [5_000, 'a model of budgets', BUDGET, { style: 'budget', tokens: 5_000 }],
    ['off', 'a model that never thinks', NEVER, undefined],
    ['minimal', 'an unknown model', UNKNOWN, { style: 'effort', effort: 'minimal' }],
    [500, 'an unknown model', UNKNOWN, { style: 'budget', tokens: 500 }],
    ['off', 'an unknown model', UNKNOWN, { style: 'off' }],
  ])('tells %s to %s', (setting, _, facts, order) => {
    expect(thinkingOrder(setting, facts)).toEqual({ order });
  });

  it.each<[ThinkingSetting, string, ModelFacts, string]>([
    ['minimal', 'a model without it', GPT, 'this model does not support the level minimal; supported: off, low, medium, high'],
    ['off', 'a model that always thinks', ALWAYS, 'this model does not support the level off; supported: low, high'],
    ['minimal', 'a model that decides', ADAPTIVE, 'this model does not support the level minimal; supported: off, low, medium, high'],
    [4_000, 'a model of levels', GPT, 'this model does not support a number of tokens; supported: off, low, medium, high'],
    [4_000, 'a model that decides', ADAPTIVE, 'this model does not support a number of tokens; supported: off, low, medium, high'],
    ['low', 'a model that never thinks', NEVER, 'this model does not support thinking; use off'],
    [4_000, 'a model that never thinks', NEVER, 'this model does not support thinking; use off'],
    [1_000, 'a model of budgets', BUDGET, '1000 tokens are below the minimum of 1024'],
    [32_000, 'a model of budgets', BUDGET, '32000 tokens are above the maximum of this model, 31744'],
    [
      'off',
      'a model of budgets that always thinks',
      { ...BUDGET, thinkingLevels: ['low', 'high'] },
      'this model does not support the level off; supported: low, high, or a number of tokens',
    ],
  ])('C-32: refuses %s for %s, and says what it has', (setting, _, facts, problem) => {
    expect(thinkingOrder(setting, facts)).toEqual({ problem });
  });
});

describe('nearestThinking', () => {
  it.each<[ThinkingSetting, string, ModelFacts]>([
    ['medium', 'a model that has it', GPT],
    [4_000, 'a model of budgets', BUDGET],
    ['minimal', 'an unknown model', UNKNOWN],
  ])('leaves %s as it is for %s, without a word', (setting, _, facts) => {
    expect(nearestThinking(setting, facts)).toEqual({ setting });
  });

  it.each<[ThinkingSetting, ModelFacts, ThinkingSetting, string]>([
    ['minimal', GPT, 'low', 'uses thinking low instead of minimal'],
    ['medium', ALWAYS, 'high', 'uses thinking high instead of medium'],
    ['off', ALWAYS, 'low', 'uses thinking low instead of off'],
    ['high', NEVER, 'off', 'uses thinking off instead of high'],
    [9_000, NEVER, 'off', 'uses thinking off instead of 9000 tokens'],
    [4_000, GPT, 'medium', 'uses thinking medium instead of 4000 tokens'],
    [100_000, GPT, 'high', 'uses thinking high instead of 100000 tokens'],
    [1, GPT, 'low', 'uses thinking low instead of 1 tokens'],
    [10, BUDGET, 1_024, 'uses thinking 1024 tokens instead of 10 tokens'],
    [64_000, BUDGET, 31_744, 'uses thinking 31744 tokens instead of 64000 tokens'],
    ['low', { thinkingStyle: 'effort', thinkingLevels: ['off'] }, 'off', 'uses thinking off instead of low'],
  ])('C-32: maps %s to a near one that the model has, and says so', (setting, facts, nearest, notice) => {
    expect(nearestThinking(setting, facts)).toEqual({ setting: nearest, notice });
    expect(thinkingOrder(nearest, facts)).not.toHaveProperty('problem');
  });
});

describe('nearestOrder', () => {
  it('is what the model can do of what was asked for', () => {
    expect(nearestOrder('minimal', GPT)).toEqual({ style: 'effort', effort: 'low' });
    expect(nearestOrder('off', ALWAYS)).toEqual({ style: 'effort', effort: 'low' });
    expect(nearestOrder(64_000, BUDGET)).toEqual({ style: 'budget', tokens: 31_744 });
    expect(nearestOrder('high', NEVER)).toBeUndefined();
  });

  it('is off, unasked, for a model that has nothing else, and is nothing for any other', () => {
    const gpt = modelFacts('openai/gpt-5.4');
    expect(nearestOrder(undefined, gpt)).toEqual({ style: 'off' });
    expect(chatThinking(nearestOrder(undefined, gpt), {})).toEqual({ reasoning_effort: 'none' });
    for (const facts of [modelFacts('openai-responses/gpt-5.4'), GPT, ALWAYS, BUDGET, ADAPTIVE, NEVER, {}]) {
      expect(nearestOrder(undefined, facts)).toBeUndefined();
    }
  });
});

describe('every known model', () => {
  const models = Object.entries(KNOWN_MODELS).flatMap(([provider, known]) => Object.keys(known).map((name) => `${provider}/${name}`));

  it('C-32: can be told something for each level and for any number of tokens', () => {
    const settings = [...THINKING_LEVELS, 1, 5_000, 1_000_000];
    const untold = models.flatMap((model) => {
      const facts = modelFacts(model);
      const refused = settings.filter((setting) => 'problem' in thinkingOrder(nearestThinking(setting, facts).setting, facts));
      return refused.map((setting) => `${model}: ${setting}`);
    });
    expect(models.length).toBeGreaterThan(20);
    expect(untold).toEqual([]);
  });

  it('C-32: a level that gpt-5.1 does not have is refused with those that it has', () => {
    const problem = 'this model does not support the level minimal; supported: off, low, medium, high';
    expect(thinkingOrder('minimal', modelFacts('openai/gpt-5.1'))).toEqual({ problem });
  });
});
