import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/contracts/constants/limits.js';
import { addUsage, costOf, NO_USAGE } from '../../../../src/contracts/models/usage.js';
import {
  type BudgetFacts,
  finalOutputTokens,
  outputTokensAllowed,
  sideOutputTokens,
} from '../../../../src/workflows/policies/stop/budget.js';

const tokens = fc.integer({ min: 0, max: 200_000 });
const price = fc.record({ input: fc.double({ min: 0, max: 50, noNaN: true }), output: fc.double({ min: 0, max: 100, noNaN: true }) });
const facts: fc.Arbitrary<BudgetFacts> = fc.record({
  used: fc.record({ inputTokens: tokens, outputTokens: tokens }).map((used) => ({ ...NO_USAGE, ...used })),
  costUsd: fc.double({ min: 0, max: 10, noNaN: true }),
  maxTokens: fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined }),
  maxCostUsd: fc.option(fc.double({ min: 0.0001, max: 20, noNaN: true }), { nil: undefined }),
  price: fc.option(price, { nil: undefined }),
  inputTokens: tokens,
  thinkingTokens: fc.constantFrom(0, 2_048, 16_384),
  finalReadsAnswer: fc.boolean(),
});

describe('the budget of a run', () => {
  it('a call that takes its whole reserve, and the final call after it, stay within the cap on tokens', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const allowed = outputTokensAllowed(given);
        fc.pre(allowed !== 'spent' && given.maxTokens !== undefined);
        const used = addUsage(given.used, { ...NO_USAGE, inputTokens: given.inputTokens, outputTokens: allowed });
        const final = given.inputTokens + (given.finalReadsAnswer ? allowed : 0) + MODEL_LIMITS.outputTokensMin;
        expect(used.inputTokens + used.outputTokens + final).toBeLessThanOrEqual(given.maxTokens);
      }),
    );
  });

  it('a completion beside the turns, and the final call after it, stay within the caps on tokens and money', () => {
    const request = fc.record({ inputTokens: tokens, tokensMax: fc.integer({ min: 1, max: 8_192 }) });
    fc.assert(
      fc.property(facts, request, (given, { inputTokens, tokensMax }) => {
        const allowed = sideOutputTokens(given, { inputTokens, tokensMax });
        fc.pre(allowed !== 'spent');
        expect(allowed).toBeLessThanOrEqual(tokensMax);
        const side = { ...NO_USAGE, inputTokens, outputTokens: allowed };
        const final = { ...NO_USAGE, inputTokens: given.inputTokens, outputTokens: MODEL_LIMITS.outputTokensMin };
        const all = addUsage(given.used, addUsage(side, final));
        const {
          maxTokens = Number.POSITIVE_INFINITY,
          maxCostUsd = Number.POSITIVE_INFINITY,
          price: paid = { input: 0, output: 0 },
        } = given;
        expect(all.inputTokens + all.outputTokens).toBeLessThanOrEqual(maxTokens);
        const spent = paid === given.price ? given.costUsd + costOf(side, paid) + costOf(final, paid) : 0;
        expect(spent).toBeLessThanOrEqual(maxCostUsd + 1e-9);
      }),
    );
  });

  it('the same holds for money', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const allowed = outputTokensAllowed(given);
        fc.pre(allowed !== 'spent' && given.maxCostUsd !== undefined && given.price !== undefined);
        const call = costOf({ ...NO_USAGE, inputTokens: given.inputTokens, outputTokens: allowed }, given.price);
        const finalInput = given.inputTokens + (given.finalReadsAnswer ? allowed : 0);
        const final = costOf({ ...NO_USAGE, inputTokens: finalInput, outputTokens: MODEL_LIMITS.outputTokensMin }, given.price);
        expect(given.costUsd + call + final).toBeLessThanOrEqual(given.maxCostUsd + 1e-9);
      }),
    );
  });

  it('using more never allows more', () => {
    fc.assert(
      fc.property(facts, tokens, fc.double({ min: 0, max: 5, noNaN: true }), (given, more, moreUsd) => {
        const later = { ...given, used: addUsage(given.used, { ...NO_USAGE, outputTokens: more }), costUsd: given.costUsd + moreUsd };
        expect(amount(later)).toBeLessThanOrEqual(amount(given));
        expect(finalOutputTokens(later)).toBeLessThanOrEqual(finalOutputTokens(given));
      }),
    );
  });

  it('an answer is never offered less than is useful, nor more than a model gives', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const offered = [outputTokensAllowed(given), finalOutputTokens(given)].filter((allowed) => allowed !== 'spent');
        for (const amountOffered of offered) {
          expect(amountOffered).toBeGreaterThanOrEqual(MODEL_LIMITS.outputTokensMin);
          expect(amountOffered).toBeLessThanOrEqual(MODEL_LIMITS.outputTokensDefault + given.thinkingTokens);
        }
      }),
    );
  });

  it('without caps nothing is ever spent', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const allowed = outputTokensAllowed({ ...given, maxTokens: undefined, maxCostUsd: undefined });
        expect(allowed).toBe(MODEL_LIMITS.outputTokensDefault + given.thinkingTokens);
      }),
    );
  });

  it('a model whose output is free still spends a cap on money through its input', () => {
    const given = {
      used: NO_USAGE,
      maxTokens: undefined,
      maxCostUsd: 1,
      price: { input: 10, output: 0 },
      inputTokens: 60_000,
      finalReadsAnswer: false,
      thinkingTokens: 0,
    };
    expect(outputTokensAllowed({ ...given, costUsd: 0 })).toBe('spent');
  });
});

function amount(given: BudgetFacts): number {
  const allowed = outputTokensAllowed(given);
  return allowed === 'spent' ? 0 : allowed;
}
