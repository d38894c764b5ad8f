import { anything, assert, constantFrom, dictionary, double, jsonValue, nat, oneof, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUsage, NO_USAGE } from '../../../src/contracts/models/usage.js';
import { Usage } from '../../../src/contracts/schemas/model.js';

describe('isUsage', () => {
  it('is true for what the schema takes and for nothing else', () => {
    const count = oneof({ weight: 20, arbitrary: nat() }, double(), anything());
    const counts = record(
      {
        inputTokens: count,
        outputTokens: count,
        cacheReadTokens: count,
        cacheWriteTokens: count,
        reasoningTokens: count,
        imageTokens: count,
      },
      { noNullPrototype: true, requiredKeys: ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] },
    );
    const parts = dictionary(constantFrom(...Object.keys(NO_USAGE), 'imageTokens', 'others'), count, { noNullPrototype: true, minKeys: 4 });
    assert(
      property(oneof(counts, parts, jsonValue()), (value) => {
        expect(isUsage(value)).toBe(Usage.safeParse(value).success);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes a usage, and refuses one with a field too many, one too few, or a text in it', () => {
    const { reasoningTokens, ...four } = NO_USAGE;
    expect(isUsage(NO_USAGE)).toBe(true);
    for (const value of [{ ...NO_USAGE, others: 1 }, four, { ...four, reasoningTokens: String(reasoningTokens) }, null, [], 'usage']) {
      expect(isUsage(value)).toBe(false);
    }
  });
});
