import { describe, expect, it } from 'vitest';
import { type OutputSchema, outputSchemaProblem } from '../../../src/activities/answer/output-schema.js';
import { OUTPUT_SCHEMA_LIMITS } from '../../../src/contracts/constants/limits.js';

describe('outputSchemaProblem', () => {
  it.each<[string, OutputSchema]>([
    ['the empty schema', {}],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} }, items: [{ $ref: '#/definitions/a' }] }],
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { a: true }, prefixItems: [{ $ref: '#/$defs/a' }] }],
    ['a schema of itself', { properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    ['an anchor', { $defs: { a: { $anchor: 'here' } }, $ref: '#here' }],
    ['fields that are called like keywords', { properties: { type: { const: 'x' }, required: { type: 'boolean' } }, required: ['type'] }],
    ['values that look like schemas', { enum: [{ type: 'nonsense' }], default: { $ref: 'https://example.com' } }],
  ])('%s can be used', (_, schema) => {
    expect(outputSchemaProblem(schema)).toBeUndefined();
  });

  it.each<[string, OutputSchema]>([
    ['outputSchema.type: use ', { type: 'strng' }],
    ['outputSchema.properties.a.type: use ', { properties: { a: { type: ['string', 'nil'] } } }],
    ['outputSchema.properties: schemas by name', { properties: ['a'] }],
    ['outputSchema.properties.a: a schema is an object', { properties: { a: 'string' } }],
    ['outputSchema.anyOf: a list of schemas', { anyOf: { type: 'string' } }],
    ['outputSchema.anyOf.1: a schema is an object', { anyOf: [{}, 3] }],
    ['outputSchema.items: a schema is an object', { items: 'string' }],
    ['outputSchema.not: a schema is an object', { not: null }],
    ['outputSchema.required: a list of names', { required: 'a' }],
    ['outputSchema.enum: a list of values', { enum: 'a' }],
    ['outputSchema.pattern: Invalid regular expression', { pattern: '(' }],
    ['outputSchema.pattern: Invalid regular expression', { patternProperties: { '(': {} } }],
    ['outputSchema.$schema: use one of ', { $schema: 'https://example.com/my-own' }],
    ['outputSchema.properties.a.$ref: points to nothing', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['outputSchema.$dynamicRef: use $ref', { $dynamicRef: '#node' }],
  ])('B25: %s … is told of %j', (problem, schema) => {
    expect(outputSchemaProblem(schema)).toContain(problem);
  });

  it.each(['https://example.com/schema.json', 'file:///etc/passwd', 'other.json', '//host/x'])(
    'B25: a reference to %s is refused, not fetched',
    ($ref) => {
      expect(outputSchemaProblem({ items: { $ref } })).toMatch(/^outputSchema\.items\.\$ref: only references inside the schema/u);
    },
  );

  it('B25: a schema of 300 KB, and one nested ten thousand deep, are refused', () => {
    expect(outputSchemaProblem({ description: 'x'.repeat(300_000) })).toContain(`at most ${OUTPUT_SCHEMA_LIMITS.bytesMax}`);
    let deep: OutputSchema = {};
    for (let level = 0; level < 10_000; level += 1) deep = { not: deep };
    expect(outputSchemaProblem(deep)).toMatch(/nested too deeply|at most/u);
    let shallower: OutputSchema = {};
    for (let level = 0; level < 7_000; level += 1) shallower = { not: shallower };
    expect(outputSchemaProblem(shallower)).toBe('outputSchema: it is nested too deeply');
  });
});
