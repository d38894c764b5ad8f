import { describe, expect, it } from 'vitest';
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

describe('D1: the result of a tool', () => {
  it('is any JSON-compatible type, also an interface, a list of them and one that contains itself', async () => {
    const tools = `
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
    expect(await typeCheck({ tools: `${START}${tools}` })).toEqual([]);
  });

  it('that is not JSON is refused by the compiler: functions, BigInts, Maps and undefined, also inside, and promises of them', async () => {
    const refused = {
      bigint: '() => ({ total: 7n })',
      function: '() => () => 7',
      map: '() => new Map([[1, order]])',
      promise: 'async () => ({ numbers: new Set([1]) })',
      undefined: '() => undefined',
    };
    const files = Object.entries(refused).map(([name, execute]) => {
      return [name, `${START}export const tool = defineTool({ ...base, execute: ${execute} });`] as const;
    });
    const messages = (await typeCheck(Object.fromEntries(files))).filter((line) => line.includes('error TS'));
    const named = messages.map((line) => /examples\/(?<name>\w+)\.ts/u.exec(line)?.groups?.['name'] ?? line);
    expect(new Set(named)).toEqual(new Set(Object.keys(refused)));
    expect(named).toHaveLength(5);
  });
});
