import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CAPABILITY_LEVEL, clampPolicy, FIELDS_OF_LEVELS } from '../../src/contracts/capability-level.js';
import { DEFAULT_POLICY, RunPolicy } from '../../src/contracts/schemas/policy.js';
import { POLICY_OF_0_1 } from '../../src/workflows/policies/policy-baseline.js';
// the fields of the builds that told no level, and the options of the first levels. This list never grows
import FIELDS_WITHOUT_LEVEL from './fields-without-level.json' with { type: 'json' };

/** The part of a JSON Schema that has fields. */
const NestedSchema = z.object({ properties: z.record(z.string(), z.unknown()).default({}), items: z.unknown().optional() });
const later = [...FIELDS_OF_LEVELS.values()].flat();

describe('A3: capability levels', () => {
  it('every field of the policy belongs to exactly one level; a new one is not inside another, where no level could leave it out', () => {
    expect(fieldsOf(z.toJSONSchema(RunPolicy)).toSorted()).toEqual([...FIELDS_WITHOUT_LEVEL, ...later].toSorted());
  });

  it('the level of this build is the highest one', () => {
    expect(Math.max(...FIELDS_OF_LEVELS.keys())).toBe(CAPABILITY_LEVEL);
  });

  it('code of this build gets the whole policy; code of the last build without levels none of the later fields', () => {
    expect(clampPolicy(DEFAULT_POLICY, CAPABILITY_LEVEL)).toEqual(DEFAULT_POLICY);
    const clamped = clampPolicy(DEFAULT_POLICY);
    for (const name of FIELDS_WITHOUT_LEVEL) expect(Reflect.get(clamped, name)).toEqual(Reflect.get(DEFAULT_POLICY, name));
    expect(later.flatMap((name) => clamped[name] || [])).toEqual([]);
  });

  it('an option of a later level is left out, whatever its value', () => {
    const options = new Map([[2, ['thinkingTokensMax' as const]]]);
    const policy = { ...DEFAULT_POLICY, thinkingTokensMax: 5 };
    expect([1, 2].map((level) => clampPolicy(policy, level, options).thinkingTokensMax)).toEqual([undefined, 5]);
  });

  it('off or absent is how code behaves that does not know a field', () => {
    expect(later.flatMap((name) => POLICY_OF_0_1[name] || [])).toEqual([]);
  });
});

/** The names of all fields, such as `loop` and `loop.nudgeAt`. */
function fieldsOf(schema: unknown, path = ''): string[] {
  const { properties, items } = NestedSchema.parse(schema);
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [`${path}${name}`, ...fieldsOf(field, `${path}${name}.`)]),
    ...(items === undefined ? [] : fieldsOf(items, path)),
  ];
}
