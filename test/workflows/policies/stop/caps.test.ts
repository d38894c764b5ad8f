import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addUsage, costOf, NO_USAGE } from '../../../../src/contracts/models/usage.js';
import { extendedCap } from '../../../../src/workflows/turn/extend-caps.js';
import { FIRST_INPUT_TOKENS, SimulatedRun, type SimulatedTurn } from '../support/simulated-run.js';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const turn: fc.Arbitrary<SimulatedTurn> = fc.record({
  answerShare: share,
  losses: fc.array(fc.option(share, { nil: undefined }), { maxLength: 4 }),
  resultTokens: fc.integer({ min: 0, max: 5_000 }),
  isRepeating: fc.boolean(),
});
const script = fc.array(turn, { minLength: 1, maxLength: 8 });
const maxTurns = fc.integer({ min: 1, max: 60 });
const autoExtend = fc.record({ step: fc.integer({ min: 1, max: 30 }), hardCap: fc.integer({ min: 1, max: 90 }) });
const price = { input: 3, output: 15 };

describe('caps are never exceeded, whatever a model answers and however many attempts are lost', () => {
  it('turns: at most maxTurns, and one request more', () => {
    fc.assert(
      fc.property(script, maxTurns, (turns, cap) => {
        const run = new SimulatedRun({ maxTurns: cap }).play(turns);
        expect(run.turns).toBe(cap);
        expect(run.requests).toBeLessThanOrEqual(cap + 1);
      }),
    );
  });

  it('A-16: a cap that extends itself only rises, never above the hard cap, and not while the run repeats itself', () => {
    fc.assert(
      fc.property(script, maxTurns, autoExtend, (turns, cap, extend) => {
        const run = new SimulatedRun({ maxTurns: cap, autoExtend: extend }).play(turns);
        expect(run.turnCaps).toEqual([...new Set(run.turnCaps)].toSorted((a, b) => a - b));
        expect(Math.max(...run.turnCaps)).toBeLessThanOrEqual(Math.max(cap, extend.hardCap));
        expect(run.turns).toBe(run.turnCaps.at(-1));
        expect(extendedCap({ autoExtend: extend, maxTurns: cap, isRepeating: true })).toBeUndefined();
      }),
    );
  });

  it('tokens: all that is charged stays within the cap, but for the last results that the final call reads', () => {
    fc.assert(
      fc.property(script, fc.integer({ min: 2 * FIRST_INPUT_TOKENS + 600, max: 400_000 }), (turns, maxTokens) => {
        const { used, finalUsage, lastResultTokens } = new SimulatedRun({ maxTokens, maxTurns: 60 }).play(turns);
        expect(used.inputTokens + used.outputTokens).toBeLessThanOrEqual(maxTokens);
        const all = addUsage(used, finalUsage);
        expect(all.inputTokens + all.outputTokens).toBeLessThanOrEqual(maxTokens + lastResultTokens);
      }),
    );
  });

  it('money: the same', () => {
    fc.assert(
      fc.property(script, fc.double({ min: 0.02, max: 5, noNaN: true }), (turns, maxCostUsd) => {
        const { used, finalUsage, lastResultTokens } = new SimulatedRun({ maxCostUsd, price, maxTurns: 60 }).play(turns);
        expect(costOf(used, price)).toBeLessThanOrEqual(maxCostUsd + 1e-9);
        const resultsUsd = costOf({ ...NO_USAGE, inputTokens: lastResultTokens }, price);
        expect(costOf(addUsage(used, finalUsage), price)).toBeLessThanOrEqual(maxCostUsd + resultsUsd + 1e-9);
      }),
    );
  });
});
