import { describe, expect, it } from 'vitest';
import { FAULT_NAMES } from '../../../src/testing/crash/faults/fault.js';
import { describePlan, makePlan, momentName, momentsOf } from '../../../src/testing/crash/plan/plan.js';

const BOUNDARIES = ['callModel: before', 'callModel: inside', 'callModel: after', 'callTool charge: before', 'callTool charge: after'];
const CONDITIONS = { boundaries: BOUNDARIES, faults: FAULT_NAMES, messagesMax: 3 };
const PLANS = Array.from({ length: 2_000 }, (_, seed) => makePlan(seed, CONDITIONS));

describe('makePlan', () => {
  it('gives the same plan for the same seed, and other plans for other seeds', () => {
    expect(makePlan(7, CONDITIONS)).toEqual(makePlan(7, CONDITIONS));
    expect(new Set(PLANS.map((plan) => JSON.stringify({ ...plan, seed: 0 }))).size).toBeGreaterThan(1_500);
  });

  it('strikes at each moment with consecutive seeds', () => {
    const moments = momentsOf(BOUNDARIES);
    const struck = PLANS.slice(100, 100 + moments.length).map(({ faults: [first] }) => first && momentName(BOUNDARIES, first));
    expect(new Set(struck)).toEqual(new Set(moments.map((moment) => momentName(BOUNDARIES, moment))));
    expect(struck).toContain('callTool charge: reported');
  });

  it('makes every fault that has a moment, kills of workers most often, and at most one long fault a run', () => {
    const struck = PLANS.flatMap(({ faults }) => faults.map(({ fault }) => fault));
    const withoutMoment = new Set<string>(['kill-supervisor', 'clock-jump', 'mixed-builds', 'early-continue-as-new']);
    expect(new Set(struck)).toEqual(new Set(FAULT_NAMES.filter((name) => !withoutMoment.has(name))));
    expect(struck.filter((name) => name === 'kill-worker').length).toBeGreaterThan(struck.length / 3);
    expect(Math.max(...PLANS.map(({ faults }) => faults.filter(({ forMs }) => forMs > 20_000).length))).toBe(1);
  });

  it('makes only faults that were asked for, and no more messages than asked for', () => {
    const plans = PLANS.map(({ seed }) => makePlan(seed, { boundaries: BOUNDARIES, faults: ['partition'], messagesMax: 0 }));
    expect(new Set(plans.flatMap(({ faults }) => faults.map(({ fault }) => fault)))).toEqual(new Set(['partition']));
    expect(plans.flatMap(({ messages }) => messages)).toEqual([]);
    expect(plans.some(({ continueAsNewEvents }) => continueAsNewEvents !== undefined)).toBe(false);
  });
});

it('describePlan names each fault with its moment in one line', () => {
  const plan = {
    seed: 1,
    faults: [{ fault: 'partition', boundary: 5, afterMs: 12, forMs: 700 }],
    messages: [{ boundary: 1, by: 'update' }],
    continueAsNewEvents: 30,
  } as const;
  expect(describePlan(plan, BOUNDARIES)).toBe(
    'partition for 700 ms at boundary 5 (callTool charge: after) + 12 ms; message by update at boundary 1 (callModel: before); ' +
      'continue-as-new after 30 events',
  );
});
