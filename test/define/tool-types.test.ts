import { beforeAll, describe, expect, it } from 'vitest';
import { typeCheck } from '../docs/support/type-check.js';

/** What all examples begin with. */
const START = `
import { defineTool, type ToolReturn } from 'perdure';
import type { JsonValue } from 'perdure/contracts';
import { z } from 'zod';

interface Order { readonly number: number; readonly note?: string; readonly lines: readonly Line[] }
interface Line { readonly title: string; readonly parent?: Line }
declare const order: Order;
const base = { name: 'find_order', description: 'Find an order.', parameters: z.strictObject({ number: z.number() }) };
`;

/** A module each; all are one program of the compiler, which takes long to start. */
const TOOLS = `
      export const one = defineTool({ ...base, execute: () => order });
      export const list = defineTool({ ...base, execute: async () => [order] });
      export const inside = defineTool({ ...base, execute: ({ number }) => ({ found: number > 0, order, at: new Date(0) }) });
      export const either = defineTool({ ...base, execute: ({ number }) => (number > 0 ? order : 'not found') });
      export const parts = defineTool({ ...base, execute: () => [{ type: 'text', text: 'x' }] });
      export const beats = defineTool({ ...base, execute: (_, { heartbeat }) => { heartbeat(order); return null; } });
      export const failing = defineTool({ ...base, execute: async () => { throw new Error('x'); } });
      export const json = defineTool({ ...base, execute: ({ number }): JsonValue | Promise<JsonValue> => ({ number }) });
      export const unknown = defineTool({ ...base, execute: async () => await (await fetch('http://127.0.0.1')).json() });
      export const returned = defineTool({ ...base, execute: (): ToolReturn => order });
    `;
const REFUSED = {
  bigint: '() => ({ total: 7n })',
  function: '() => () => 7',
  map: '() => new Map([[1, order]])',
  promise: 'async () => ({ numbers: new Set([1]) })',
  undefined: '() => undefined',
};

describe('D1: the result of a tool', () => {
  let messages: readonly string[];
  beforeAll(async () => {
    const refused = Object.entries(REFUSED).map(([name, execute]) => {
      return [name, `${START}export const tool = defineTool({ ...base, execute: ${execute} });`] as const;
    });
    messages = await typeCheck({ tools: START + TOOLS, ...Object.fromEntries(refused) });
  });
  /** The module of each error; a line that is of none stays whole. */
  const named = () =>
    messages.filter((line) => line.includes('error TS')).map((line) => /examples\/(?<name>\w+)\.ts/u.exec(line)?.groups?.['name'] ?? line);

  it('is any JSON-compatible type, also an interface, a list of them and one that contains itself', () => {
    expect(named().filter((name) => !Object.hasOwn(REFUSED, name))).toEqual([]);
  });

  it('that is not JSON is refused by the compiler: functions, BigInts, Maps and undefined, also inside, and promises of them', () => {
    expect(new Set(named())).toEqual(new Set(Object.keys(REFUSED)));
    expect(named()).toHaveLength(5);
  });
});
