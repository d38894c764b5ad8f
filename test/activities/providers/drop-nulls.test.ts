import { expect, it } from 'vitest';
import { ownCalls } from '../../../src/activities/providers/own-calls.js';
import type { JsonValue } from '../../../src/contracts/message.js';

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
  const startedAt = performance.now();
  const [part] = ownCalls(
    [{ type: 'tool_call', callId: 'c', name: 't', args: { ...nulls, list } }],
    [{ name: 't', schema }],
    'openai-strict',
  );
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(part).toMatchObject({ args: { list: list.map(() => ({ k3: 'x' })) } });
  expect(part).not.toHaveProperty('args.p1');
});
