import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod/v3';
import { toJsonSchema } from '../../../src/contracts/json/output-schema.js';
import { defineTool } from '../../../src/define/define-tool.js';

describe('toJsonSchema', () => {
  it('D1: a schema of zod 4 becomes JSON Schema of what the model answers, without a draft', () => {
    const schema = z.strictObject({ city: z.string(), days: z.number().default(1) });
    expect(toJsonSchema(schema)).toStrictEqual({
      schema: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { default: 1, type: 'number' } },
        required: ['city'],
        additionalProperties: false,
      },
    });
  });

  it.each([undefined, null, 7, 'text', { type: 'object' }, { $defs: { a: true }, $ref: '#/$defs/a' }])('%j stays as it is', (given) => {
    expect(toJsonSchema(given)).toEqual({ schema: given });
  });

  it('D1: a schema of zod 3 is refused with the version to use, as it is for the parameters of a tool', () => {
    const old = z3.object({ city: z3.string() });
    expect(toJsonSchema(old)).toEqual({ problem: 'a schema of zod 3. Use zod 4, or JSON Schema.' });
    const tool = { name: 'weather', description: 'Says the weather.', parameters: old as never, execute: () => 'sunny' };
    expect(() => defineTool(tool)).toThrow(
      'TOOL_PARAMETERS: tool "weather" has parameters that are a schema of zod 3. Use zod 4, or JSON Schema.',
    );
  });

  it('a schema that says no JSON Schema of itself is refused with what to write', () => {
    expect(toJsonSchema(mini.object({ city: mini.string() }))).toEqual({
      problem: expect.stringContaining('Pass z.toJSONSchema(schema).'),
    });
    expect(toJsonSchema(z.strictObject({ at: z.date() }))).toEqual({ problem: expect.stringContaining('Date cannot be represented') });
  });
});
