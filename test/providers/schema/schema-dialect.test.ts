import { Validator } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonValue } from '../../../src/contracts/schemas/message.js';
import { type SchemaDialect, toDialect } from '../../../src/providers/schema/schema-dialect.js';
import { ownCalls } from '../../../src/providers/transcript/decode-calls.js';
import { cpuMs } from '../../support/cpu-time.js';

type Schema = Record<string, JsonValue>;

const object = (properties: Schema, fields: Schema = {}): Schema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...fields,
});

const READ: Schema = object(
  {
    path: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1, default: 10 },
    mode: { type: 'string', enum: ['a', 'b'] },
  },
  { required: ['path'], $schema: 'https://json-schema.org/draft/2020-12/schema' },
);

const NODE: Schema = {
  type: 'object',
  properties: { value: { type: 'string' }, next: { $ref: '#/$defs/node' } },
  required: ['value'],
};

const CYCLIC: Schema = object({ first: { $ref: '#/$defs/node', description: 'The first.' } }, { $defs: { node: NODE } });

function ownArgs(args: JsonValue, schema: Schema, dialect: SchemaDialect = 'openai-strict'): JsonValue {
  const [part] = ownCalls([{ type: 'tool_call', callId: 'c', name: 't', args }], [{ name: 't', schema }], dialect);
  return part?.type === 'tool_call' ? part.args : 'no call';
}

describe('the strict dialect of OpenAI', () => {
  it('requires each property, null standing for one that is left out, and closes objects', () => {
    expect(toDialect(READ, 'openai-strict')).toEqual({
      strict: true,
      schema: object(
        {
          path: { type: 'string' },
          limit: { type: ['integer', 'null'], minimum: 1 },
          mode: { type: ['string', 'null'], enum: ['a', 'b', null] },
        },
        { required: ['path', 'limit', 'mode'] },
      ),
    });
  });

  it('keeps references, alone, to one list of definitions', () => {
    expect(toDialect(CYCLIC, 'openai-strict').schema).toEqual(
      object(
        { first: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        {
          required: ['first'],
          $defs: {
            node: object(
              { value: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
              { required: ['value', 'next'] },
            ),
          },
        },
      ),
    );
  });

  it.each<[string, JsonValue]>([
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['an object of any shape', { type: 'object' }],
    ['any value', {}],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['a list of anything', { type: 'array' }],
    ['a schema of several', { allOf: [{ type: 'object', properties: {} }] }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a reference with more beside it', { $ref: '#/$defs/x', minLength: 2 }],
    ['what is too deep', Array.from({ length: 12 }).reduce<JsonValue>((inner) => object({ inner }), { type: 'string' })],
    ['what is too large', object(Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`p${index}`, { type: 'string' }])))],
  ])('is not used for %s: the schema is sent as it is, and not strict', (_, property) => {
    const schema = object({ property });
    expect(toDialect(schema, 'openai-strict')).toEqual({ schema, strict: false });
  });

  it.each([
    ['none takes null', 'integer'],
    ['all lead to one that takes null', 'null'],
  ])('looks at each definition as often, however many refer to each other, where %s', (_, type) => {
    const looks = (definitions: number): number => {
      let count = 0;
      const names = Array.from({ length: definitions }, (__, index) => `d${index}`);
      const definition = (index: number): Schema => ({
        get anyOf() {
          count += 1;
          const others = [1, 2, 3, 4].map((step) => ({ $ref: `#/$defs/d${(index + step) % definitions}` }));
          return [{ type: index === 0 ? type : 'string' }, ...others];
        },
      });
      const $defs = Object.fromEntries(names.map((name, index) => [name, definition(index)]));
      const schema = object(Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])), { $defs });
      expect(toDialect(schema, 'openai-strict').strict).toBe(true);
      return count;
    };
    expect(looks(400)).toBeLessThanOrEqual(4 * looks(100));
  });

  it('a null for what may be left out is dropped from a call again, at any depth; one that means null stays', () => {
    const item = object({ name: { type: 'string' }, note: { type: 'string' }, tag: { type: ['string', 'null'] } }, { required: ['name'] });
    const schema = object(
      { items: { type: 'array', items: { $ref: '#/$defs/item' } }, one: { anyOf: [item, { type: 'string' }] } },
      { $defs: { item } },
    );
    const given = { items: [{ name: 'a', note: null, tag: null }], one: { name: 'b', note: null, tag: 'x' } };
    expect(ownArgs(given, schema)).toEqual({ items: [{ name: 'a', tag: null }], one: { name: 'b', tag: 'x' } });
    expect(ownArgs({ items: null, one: null }, schema)).toEqual({});
    expect(ownArgs(given, schema, 'json-schema')).toEqual(given);
  });

  it('a null that a tool did not allow stays, for the tool to refuse', () => {
    expect(ownArgs({ path: null, limit: null, other: null }, READ)).toEqual({ path: null, other: null });
  });
});

describe('the dialect of Gemini', () => {
  it('knows null as a mark, one type for each value, and lists of texts only', () => {
    const schema = object({
      a: { type: ['string', 'null'], format: 'email', const: 'x' },
      b: { type: ['string', 'integer'] },
      c: { enum: [1, 2], description: 'How many' },
      d: { oneOf: [{ type: 'string' }, { type: 'null' }], default: 'x' },
      e: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      f: {
        allOf: [{ type: 'object', properties: { x: { type: 'string' } }, required: ['x'] }, { properties: { y: { type: 'boolean' } } }],
      },
    });
    expect(toDialect(schema, 'gemini')).toEqual({
      strict: false,
      schema: {
        type: 'object',
        properties: {
          a: { type: 'string', enum: ['x'], nullable: true },
          b: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
          c: { type: 'number', description: 'How many (one of 1, 2)' },
          d: { type: 'string', nullable: true },
          e: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
          f: { type: 'object', properties: { x: { type: 'string' }, y: { type: 'boolean' } }, required: ['x'] },
        },
      },
    });
  });

  it('tells a definition where it is referred to, and one that holds itself a few times', () => {
    const { schema } = toDialect(CYCLIC, 'gemini');
    const text = JSON.stringify(schema);
    expect(text).not.toMatch(/\$ref|\$defs|additionalProperties/u);
    expect(text.split('"next"')).toHaveLength(3);
    expect(schema).toMatchObject({ properties: { first: { description: 'The first.', properties: { value: { type: 'string' } } } } });
  });
});

describe.each(['openai-strict', 'gemini', 'json-schema'] as const)('any schema in the dialect %s', (dialect) => {
  it('stays bounded where definitions refer to each other many times', () => {
    const names = Array.from({ length: 30 }, (_, index) => `d${index}`);
    const $defs = Object.fromEntries(
      names.map((name, index) => [
        name,
        object({ a: { $ref: `#/$defs/d${(index + 1) % 30}` }, b: { $ref: `#/$defs/d${(index + 7) % 30}` } }),
      ]),
    );
    const schema = object(
      { root: { $ref: '#/$defs/d0' }, loop: { $ref: '#/$defs/loop' } },
      { $defs: { ...$defs, loop: { $ref: '#/$defs/loop' } } },
    );
    const startedAt = cpuMs();
    expect(JSON.stringify(toDialect(schema, dialect).schema).length).toBeLessThan(200_000);
    const args: JsonValue = Array.from({ length: 40 }).reduce<JsonValue>((inner) => ({ a: inner, b: null }), {});
    expect(ownArgs({ root: args, loop: null }, schema, dialect)).toBeTypeOf('object');
    expect(cpuMs() - startedAt).toBeLessThan(1_000);
  });

  it('ends where a choice is among itself', () => {
    const choice = { anyOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/x' }, { type: 'string' }] };
    const schema = object({ x: { $ref: '#/$defs/x' } }, { $defs: { x: choice } });
    expect(JSON.stringify(toDialect(schema, dialect).schema).length).toBeLessThan(100_000);
    expect(ownArgs({ x: 'a' }, schema, dialect)).toEqual({ x: 'a' });
  });

  it('is made once for each schema', () => {
    expect(toDialect(READ, dialect)).toBe(toDialect(READ, dialect));
    expect(dialect !== 'json-schema' || toDialect(READ, dialect).schema === READ).toBe(true);
  });
});

/** A schema as zod writes it for a tool, with values that fit it. */
const { shape } = fc.letrec<{ shape: z.ZodType; leaf: z.ZodType }>((tie) => ({
  leaf: fc.constantFrom<z.ZodType>(
    z.string(),
    z.string().max(5),
    z.int(),
    z.number().min(0),
    z.boolean(),
    z.null(),
    z.enum(['x', 'y']),
    z.literal('one'),
    z.literal(2),
    z.string().nullable(),
    z.email(),
  ),
  shape: fc.oneof(
    { depthSize: 'small' },
    tie('leaf'),
    fc
      .array(tie('shape'), { minLength: 1, maxLength: 3 })
      .map((shapes) =>
        z.object(Object.fromEntries(shapes.map((inner, index) => [`p${index}`, index % 2 === 0 ? inner : inner.optional()]))),
      ),
    tie('shape').map((inner) => z.array(inner)),
    fc.tuple(tie('shape'), tie('shape')).map(([one, two]) => z.union([one, two])),
    tie('shape').map((inner) => inner.nullable()),
    tie('shape').map((inner) => z.record(z.string(), inner)),
  ),
}));

/** A value that fits a schema in the strict dialect: what a server would let a model write. */
function valueOf(schema: JsonValue | undefined, pick: () => number): JsonValue {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return null;
  const { type, anyOf, enum: values, const: constant, properties, items, minimum } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[pick() % values.length] ?? null;
  if (Array.isArray(anyOf)) return valueOf(anyOf[pick() % anyOf.length], pick);
  const types = [type ?? 'null'].flat();
  const chosen = types[pick() % types.length];
  switch (typeof chosen === 'string' ? chosen : 'null') {
    case 'string':
      return schema['format'] === 'email' ? 'a@example.com' : (['', 'abc'][pick() % 2] ?? '');
    case 'integer':
    case 'number':
      return typeof minimum === 'number' && minimum >= 0 ? minimum : pick() % 5;
    case 'boolean':
      return pick() % 2 === 0;
    case 'array':
      return Array.from({ length: pick() % 3 }, () => valueOf(items, pick));
    case 'object':
      return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inner]) => [name, valueOf(inner, pick)]));
    default:
      return null;
  }
}

describe("a tool's schema in the strict dialect", () => {
  const tool = shape.map((inner) => z.object({ a: inner, b: inner.optional() }));

  it('allows nothing that the tool would not take, once what stands for absent is dropped', () => {
    let strictOnes = 0;
    fc.assert(
      fc.property(tool, fc.array(fc.nat(), { minLength: 1, maxLength: 20 }), (own, picks) => {
        const schema = z.toJSONSchema(own, { io: 'input' }) as Schema;
        const { schema: told, strict } = toDialect(schema, 'openai-strict');
        if (!strict) return;
        strictOnes += 1;
        let at = 0;
        const value = valueOf(told, () => picks[at++ % picks.length] ?? 0);
        expect(new Validator(told, '2020-12').validate(value).valid).toBe(true);
        const args = ownArgs(value, schema);
        const problems = own.safeParse(args).error?.issues.filter(({ code }) => code !== 'too_big') ?? [];
        expect({ args, problems }).toEqual({ args, problems: [] });
      }),
      { numRuns: 1_000 },
    );
    expect(strictOnes).toBeGreaterThan(300);
  });
});

describe("a tool's schema in the dialect of Gemini", () => {
  it('has only words that the API knows, and a type or a choice for each value', () => {
    const known = new Set([
      'type',
      'format',
      'title',
      'description',
      'nullable',
      'enum',
      'maxItems',
      'minItems',
      'properties',
      'required',
      'minLength',
      'maxLength',
      'pattern',
      'anyOf',
      'items',
      'minimum',
      'maximum',
    ]);
    const check = (schema: JsonValue): void => {
      if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) throw new Error('no schema');
      expect(Object.keys(schema).filter((name) => !known.has(name))).toEqual([]);
      expect(typeof schema['type'] === 'string' || Array.isArray(schema['anyOf'])).toBe(true);
      for (const inner of Object.values(schema['properties'] ?? {})) check(inner);
      for (const inner of [schema['items'] ?? [], schema['anyOf'] ?? []].flat()) check(inner);
    };
    fc.assert(
      fc.property(shape, (inner) => {
        check(toDialect(z.toJSONSchema(z.object({ a: inner }), { io: 'input' }) as Schema, 'gemini').schema);
      }),
      { numRuns: 500 },
    );
  });
});
