import { describe, expect, it } from 'vitest';
import { modelFacts } from '../../src/models/model-facts.js';
import { thinkingProblem } from '../../src/models/thinking-request.js';

describe('thinkingProblem', () => {
  it.each([
    [
      'openai/gpt-5.4-mini',
      'high',
      'this model does not support the level high; supported: off; openai-responses/gpt-5.4-mini supports it',
    ],
    ['openai/gpt-5.4-mini', 'minimal', 'this model does not support the level minimal; supported: off'],
    ['openai/gpt-5.4-mini', 5_000, 'this model does not support a number of tokens; supported: off'],
    ['openai/gpt-4.1', 'high', 'this model does not support thinking; use off'],
    ['anthropic/claude-sonnet-5', 'minimal', 'this model does not support the level minimal; supported: off, low, medium, high'],
  ] as const)('%s cannot think %s, which is told with what it can and who else could', (model, setting, problem) => {
    expect(thinkingProblem(setting, model, modelFacts(model))).toBe(problem);
  });

  it.each([
    ['openai/gpt-5.4-mini', 'off'],
    ['openai-responses/gpt-5.4-mini', 'high'],
    ['openai/unheard-of', 'high'],
  ] as const)('%s may be told to think %s', (model, setting) => {
    expect(thinkingProblem(setting, model, modelFacts(model))).toBeUndefined();
  });
});
