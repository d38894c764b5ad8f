import { describe, expect, it } from 'vitest';
import { addUsage, costOf, NO_USAGE, priceAt } from '../../../src/contracts/models/usage.js';

const MILLION = 1_000_000;
const used = (usage: Partial<typeof NO_USAGE> & { imageTokens?: number }) => ({ ...NO_USAGE, ...usage });

describe('costOf', () => {
  it('each kind of token has its price, and the cached ones are not paid as input again', () => {
    const price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
    expect(costOf(used({ inputTokens: MILLION }), price)).toBe(2);
    expect(costOf(used({ outputTokens: MILLION }), price)).toBe(10);
    expect(costOf(used({ inputTokens: MILLION, cacheReadTokens: 500_000, cacheWriteTokens: 500_000 }), price)).toBeCloseTo(0.1 + 1.25);
  });

  it('without a cache price cached tokens are paid as input', () => {
    expect(costOf(used({ inputTokens: MILLION, cacheReadTokens: MILLION }), { input: 2, output: 10 })).toBe(2);
  });

  it('thinking is part of the output, and has its own price where there is one', () => {
    const usage = used({ outputTokens: MILLION, reasoningTokens: 400_000 });
    expect(costOf(usage, { input: 1, output: 10 })).toBe(10);
    expect(costOf(usage, { input: 1, output: 10, reasoning: 5 })).toBe(8);
  });

  it('a server that reports more thinking than output is charged for the output', () => {
    expect(costOf(used({ outputTokens: MILLION, reasoningTokens: 2 * MILLION }), { input: 1, output: 10, reasoning: 5 })).toBe(5);
  });

  it('pictures are part of the input, and have their own price where there is one', () => {
    const usage = used({ inputTokens: MILLION, imageTokens: 250_000 });
    expect(costOf(usage, { input: 4, output: 10 })).toBe(4);
    expect(costOf(usage, { input: 4, output: 10, image: 8 })).toBe(5);
  });

  it('a prompt above the bound makes the whole call dearer, one at the bound does not', () => {
    const price = { input: 2, output: 10, cacheRead: 1, longPrompt: { aboveTokens: 200_000, input: 4, output: 15, cacheRead: 2 } };
    expect(costOf(used({ inputTokens: 200_000, outputTokens: 100_000 }), price)).toBeCloseTo(0.4 + 1);
    expect(costOf(used({ inputTokens: 300_000, cacheReadTokens: 100_000, outputTokens: 100_000 }), price)).toBeCloseTo(0.8 + 0.2 + 1.5);
    expect(priceAt(price, 200_001)).toMatchObject({ input: 4, output: 15 });
  });
});

describe('addUsage', () => {
  it('pictures are counted once one of both has them', () => {
    expect(addUsage(NO_USAGE, NO_USAGE)).toEqual(NO_USAGE);
    expect(addUsage(used({ inputTokens: 5, imageTokens: 2 }), used({ inputTokens: 1 }))).toEqual(used({ inputTokens: 6, imageTokens: 2 }));
  });
});
