import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/contracts/schemas/message.js';
import { takesNull } from '../../../src/providers/schema/strip-nulls.js';

type Schema = Record<string, JsonValue>;

const LEAVES: readonly Schema[] = [
  { type: 'string' },
  { type: 'null' },
  { type: ['integer', 'null'] },
  { enum: ['a', null] },
  { enum: ['a'], type: 'null' },
  { const: null },
  { const: 1 },
  {},
  { $ref: '#/$defs/gone' },
];

/** Definitions that refer to each other in any way. */
const definitions = fc.integer({ min: 1, max: 12 }).chain((count) => {
  const reference = fc.nat({ max: count - 1 }).map((index): Schema => ({ $ref: `#/$defs/d${index}` }));
  // null is rare: what takes it must be found far away
  const leaf = fc.oneof({ weight: 4, arbitrary: fc.constant<Schema>({ type: 'string' }) }, fc.constantFrom(...LEAVES));
  const choices = fc.array(fc.oneof(reference, leaf), { maxLength: 4 });
  const schema = fc.oneof(
    leaf,
    reference,
    choices.map((anyOf): Schema => ({ anyOf })),
    fc.tuple(choices, choices).map(([anyOf, oneOf]): Schema => ({ anyOf: [{ anyOf }], oneOf, description: 'both' })),
  );
  return fc.array(schema, { minLength: count, maxLength: count });
});

/** The same question, asked of every path that leads from a schema. */
function reachesNull(schema: JsonValue, defs: Schema, path: readonly JsonValue[] = []): boolean {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema) || path.includes(schema)) return false;
  const { $ref: ref, const: constant, enum: values, type, anyOf, oneOf } = schema;
  if (typeof ref === 'string') return reachesNull(defs[ref.slice('#/$defs/'.length)] ?? 'gone', defs, [...path, schema]);
  if ([anyOf ?? [], oneOf ?? []].flat().some((choice) => reachesNull(choice, defs, [...path, schema]))) return true;
  if (constant !== undefined) return constant === null;
  if (Array.isArray(values)) return values.includes(null);
  return type === undefined ? anyOf === undefined && oneOf === undefined : [type].flat().includes('null');
}

describe('takesNull', () => {
  it('says of each schema what following every path says, whichever was asked about before', () => {
    fc.assert(
      fc.property(definitions, fc.infiniteStream(fc.nat()), (schemas, picks) => {
        const $defs = Object.fromEntries(schemas.map((schema, index) => [`d${index}`, schema]));
        const root = { $defs };
        const asked = schemas.map((schema) => ({ schema, place: picks.next().value })).toSorted((a, b) => a.place - b.place);
        for (const { schema } of asked) expect(takesNull(schema, root)).toBe(reachesNull(schema, $defs));
      }),
      { numRuns: 2_000 },
    );
  });

  it('goes by the root in which a reference is meant', () => {
    const schema = { $ref: '#/$defs/x' };
    expect(takesNull(schema, { $defs: { x: { type: 'null' } } })).toBe(true);
    expect(takesNull(schema, { $defs: { x: { type: 'string' } } })).toBe(false);
  });
});
