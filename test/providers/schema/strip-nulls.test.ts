import { expect, it } from 'vitest';
import type { JsonValue } from '../../../src/contracts/schemas/message.js';
import { dropNulls } from '../../../src/providers/schema/strip-nulls.js';
import { ownCalls } from '../../../src/providers/transcript/decode-calls.js';
import { cpuMs } from '../../support/cpu-time.js';

type Schema = Record<string, JsonValue>;

const object = (properties: Schema): Schema => ({ type: 'object', properties, additionalProperties: false });

function texts(count: number): Schema {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }]));
}

it('X32: nulls are taken out of large arguments in a moment: it would hold up the whole worker', () => {
  const choices = Array.from({ length: 50 }, (_, index) => object({ ...texts(20), [`k${index}`]: { type: 'string' } }));
  const schema = object({ ...texts(1_000), list: { type: 'array', items: { anyOf: choices } } });
  const nulls = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`p${index}`, null]));
  const list = Array.from({ length: 20_000 }, () => ({ p1: null, k3: 'x' }));
  const startedAt = cpuMs();
  const [part] = ownCalls(
    [{ type: 'tool_call', callId: 'c', name: 't', args: { ...nulls, list } }],
    [{ name: 't', schema }],
    'openai-strict',
  );
  expect(cpuMs() - startedAt).toBeLessThan(4_000);
  expect(part).toMatchObject({ args: { list: list.map(() => ({ k3: 'x' })) } });
  expect(part).not.toHaveProperty('args.p1');
});

it('what may be chosen for a value is not looked for where the value is a text, a number or null', () => {
  let looks = 0;
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const definition = (): Schema => ({
    get anyOf() {
      looks += 1;
      return [{ type: 'string' }, ...names.map((name) => ({ $ref: `#/$defs/${name}` }))];
    },
  });
  const schema = {
    ...object(Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]))),
    $defs: Object.fromEntries(names.map((name) => [name, definition()])),
  };
  const args = Object.fromEntries(names.map((name, index) => [name, [`x${index}`, index, null][index % 3] ?? null]));
  expect(dropNulls(args, schema)).toEqual(Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)));
  // twice at each definition, for the nulls
  expect(looks).toBeLessThanOrEqual(2 * names.length);
});

it('a null of one of two shapes is dropped where both let it be absent and one takes none: which is meant is not known', () => {
  const plain = { ...object({ name: { type: 'string' }, note: { type: 'string' } }), required: ['name'] };
  const nullable = { ...object({ name: { type: 'string' }, note: { type: ['string', 'null'] } }), required: ['name'] };
  const demanding = { ...nullable, required: ['name', 'note'] };
  const drop = (shape: Schema): JsonValue => dropNulls({ one: { name: 'a', note: null } }, object({ one: { anyOf: [plain, shape] } }));
  expect(drop(plain)).toEqual({ one: { name: 'a' } });
  expect(drop(nullable)).toEqual({ one: { name: 'a' } });
  expect(drop(demanding)).toEqual({ one: { name: 'a', note: null } });
});
