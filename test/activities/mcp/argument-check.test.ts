import { describe, expect, it } from 'vitest';
import { argumentsProblem, type InputSchema } from '../../../src/activities/mcp/argument-check.js';

const schemaOf = (value: object): InputSchema => ({ type: 'object', properties: { value }, additionalProperties: false }) as InputSchema;

describe('the arguments of a tool of an MCP server', () => {
  it.each<[string, object, unknown]>([
    ['a pattern of names', { type: 'object', patternProperties: { '^[a-z]+$': {} }, additionalProperties: false }, { app: 'x' }],
    ['one of two formats', { oneOf: [{ format: 'date' }, { format: 'date-time' }] }, '2031-01-01'],
    ['one of two patterns', { oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'a1'],
    [
      'one of two deep patterns',
      { oneOf: [{ properties: { a: { pattern: '^a' } } }, { properties: { a: { pattern: '^b' } } }] },
      { a: 'a1' },
    ],
    ['no pattern', { not: { pattern: '^/' } }, 'x'],
    ['no pattern of an item', { type: 'array', not: { contains: { pattern: '^/' } } }, ['x']],
    ['a condition with a pattern', { if: { not: { pattern: '^/' } }, else: { maxLength: 2 } }, 'path'],
    [
      'a pattern that evaluates',
      { anyOf: [{ patternProperties: { '^a': {} } }, { minProperties: 9 }], unevaluatedProperties: false },
      { a: 1 },
    ],
    ['at most one that matches', { type: 'array', contains: { pattern: '^a' }, maxContains: 1 }, ['a', 'b']],
  ])('%s is left to the server, and what it takes is not refused', (_, value, given) => {
    expect(argumentsProblem({ value: given } as never, schemaOf(value))).toBeUndefined();
  });

  it.each<[string, object, unknown]>([
    ['a property beside one with a pattern', { properties: { a: { pattern: '^a' }, b: { type: 'number' } } }, { a: 'a', b: 'x' }],
    ['a property that is too much', { properties: { a: { format: 'date' } }, additionalProperties: false }, { b: 1 }],
    ['no choice without a pattern', { oneOf: [{ type: 'number' }, { type: 'boolean' }] }, 'x'],
    ['a type beside a pattern', { type: 'string', pattern: '^a' }, 5],
  ])('%s is refused here', (_, value, given) => {
    expect(argumentsProblem({ value: given } as never, schemaOf(value))).toMatch(/^\/value/u);
  });
});
