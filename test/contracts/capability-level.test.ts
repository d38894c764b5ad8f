import { describe, expect, it } from 'vitest';
import { CAPABILITY_LEVEL, clampPolicy, FLAGS_OF_LEVELS } from '../../src/contracts/capability-level.js';
import { DEFAULT_POLICY } from '../../src/contracts/schemas/policy.js';
import { POLICY_OF_0_1 } from '../../src/workflows/policies/policy-baseline.js';

/** The flags of the last build that told no level. This list never grows. */
const LEVEL_1 = [
  'fallbackOnAuth',
  'gateFunction',
  'keepRestOfRefused',
  'limitsDirectives',
  'memo',
  'quality',
  'thinkingOffWhenEmpty',
  'weighsFallbacks',
];

const flags = Object.entries(DEFAULT_POLICY).flatMap(([name, value]) => (typeof value === 'boolean' ? [name] : []));
const later = [...FLAGS_OF_LEVELS.values()].flat();

describe('A3: capability levels', () => {
  it('every flag of the policy belongs to exactly one level', () => {
    expect([...LEVEL_1, ...later].toSorted()).toEqual(flags.toSorted());
  });

  it('the level of this build is the highest one', () => {
    expect(Math.max(...FLAGS_OF_LEVELS.keys())).toBe(CAPABILITY_LEVEL);
  });

  it('code of this build gets the whole policy; code of the last build without levels none of the later flags', () => {
    expect(clampPolicy(DEFAULT_POLICY, CAPABILITY_LEVEL)).toEqual(DEFAULT_POLICY);
    const clamped = clampPolicy(DEFAULT_POLICY);
    expect(LEVEL_1.map((name) => Reflect.get(clamped, name))).toEqual(LEVEL_1.map((name) => Reflect.get(DEFAULT_POLICY, name)));
    expect(later.map((name) => clamped[name])).toEqual(later.map(() => false));
  });

  it('off is how code behaves that does not know a flag', () => {
    expect(later.map((name) => POLICY_OF_0_1[name])).toEqual(later.map(() => false));
  });
});
