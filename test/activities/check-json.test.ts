import { describe, expect, it } from 'vitest';
import { checkJson } from '../../src/activities/check-json.js';
import { OUTPUT_SCHEMA_LIMITS } from '../../src/contracts/limits.js';

describe('checkJson', () => {
  it.each([
    [{ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['a', 1], [1]],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
    [{ $defs: { n: { type: 'integer' } }, properties: { a: { $ref: '#/$defs/n' } } }, { a: 1 }, { a: 1.5 }],
    [{ properties: { child: { $ref: '#' } }, additionalProperties: false }, { child: { child: {} } }, { child: { chil: {} } }],
    [{ dependentRequired: { kind: ['size'] } }, { size: 1 }, { kind: 'a' }],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, 3],
    [{ type: 'string', format: 'email' }, 'a@example.com', 'nobody'],
    [
      { uniqueItems: true },
      [{ a: 1, b: 2 }, {}],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ])('%j takes %j and not %j', (schema, good, bad) => {
    expect(checkJson(good, schema)).toEqual([]);
    expect(checkJson(bad, schema).length).toBeGreaterThan(0);
  });

  it('of a nested problem only the cause is told, with its place', () => {
    const schema = { properties: { list: { items: { properties: { n: { type: 'number' } } } } } };
    expect(checkJson({ list: [{ n: 1 }, { n: 'x' }] }, schema)).toEqual([
      '/list/1/n: Instance type "string" is invalid. Expected "number".',
    ]);
  });

  it(`of many problems ${OUTPUT_SCHEMA_LIMITS.problemsShown} are told`, () => {
    const many = Array.from({ length: 5_000 }, () => 'x');
    expect(checkJson(many, { items: { type: 'number' } })).toHaveLength(OUTPUT_SCHEMA_LIMITS.problemsShown);
  });

  it('a pattern that runs away is a problem, and holds the worker for about a second at most', () => {
    const startedAt = performance.now();
    const [problem] = checkJson('a'.repeat(40), { pattern: '^(a+)+$x' });
    expect(problem).toContain('could not be checked');
    expect(performance.now() - startedAt).toBeLessThan(10 * OUTPUT_SCHEMA_LIMITS.checkMsMax);
  });

  it('a schema that refers to itself without end is a problem, not a crash', () => {
    expect(checkJson({}, { $ref: '#' })[0]).toContain('could not be checked');
  });

  it('a schema is not changed by checking with it', () => {
    const schema = { $defs: { n: { type: 'number' } }, $ref: '#/$defs/n' };
    const before = structuredClone(schema);
    checkJson(1, schema);
    expect(Reflect.ownKeys(schema)).toEqual(Reflect.ownKeys(before));
    expect(Reflect.ownKeys(schema.$defs.n)).toEqual(['type']);
  });
});
