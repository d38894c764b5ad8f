import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOL_LIMITS } from '../../src/contracts/constants/limits.js';
import { defineTool, isToolDefinition, parametersSchema, type ToolOptions } from '../../src/define/define-tool.js';

const NO_OBJECT = 'not a schema of an object. Use z.strictObject({ … }) of zod 4, or JSON Schema: { type: "object", properties: { … } }.';

const PARAMETERS = z.strictObject({ city: z.string(), days: z.number().int().default(1) });

describe('defineTool', () => {
  it('a tool without an effect is started at most once, has 45 s, and needs no approval', () => {
    expect(tool({})).toMatchObject({ effect: 'once', timeoutMs: TOOL_LIMITS.timeoutMsDefault, pure: false, approval: 'never' });
  });

  it.each(['two words', '1st', '', 'x'.repeat(65), 'é'])('B24: the name %j is refused', (name) => {
    expect(() => tool({ name })).toThrow(/TOOL_NAME/u);
  });

  it.each([999, 60 * 60 * 1_000 + 1, 1_500.5, Number.NaN])('the timeout %s is refused with its bounds', (timeoutMs) => {
    expect(() => tool({ timeoutMs })).toThrow(/TOOL_TIMEOUT: tool ".*" has timeoutMs .*\. Use an integer from 1000 to 3600000\./u);
  });

  it('only a read tool can be pure', () => {
    expect(() => tool({ pure: true })).toThrow(/TOOL_PURE: tool ".*" is pure with effect "once"/u);
    expect(tool({ pure: true, effect: 'read' }).pure).toBe(true);
  });

  it.each([
    ['a JSON Schema of a text', { type: 'string' }, NO_OBJECT],
    ['nothing', undefined, NO_OBJECT],
    ['a schema of zod 3', { _def: { typeName: 'ZodObject' }, parse: () => ({}) }, 'a schema of zod 3. Use zod 4, or JSON Schema.'],
  ])('D5: parameters that are %s are refused with what to use', (_, parameters, problem) => {
    expect(() => tool({ parameters: parameters as never })).toThrow(
      new TypeError(`TOOL_PARAMETERS: tool "weather" has parameters that are ${problem}`),
    );
  });

  it.each([
    ['http://127.0.0.1:9/a.json', 'parameters.properties.a.items.$ref: only references inside the schema'],
    ['other.json#/a', 'parameters.properties.a.items.$ref: only references inside the schema'],
  ])('B25: a schema that refers to %s is refused with its place', ($ref, problem) => {
    const parameters = { type: 'object', properties: { a: { items: { $ref } } } };
    expect(() => tool({ parameters: parameters as never })).toThrow(
      `TOOL_PARAMETERS: tool "weather" refers to another document: ${problem}`,
    );
    const inside = { type: 'object', properties: { a: { $ref: '#/$defs/a' }, $ref: { type: 'string' } }, $defs: { a: { type: 'string' } } };
    expect(tool({ parameters: inside as never }).schema).toEqual(inside);
  });

  it('an effect that is none is refused, also from plain JavaScript', () => {
    expect(() => tool(JSON.parse('{"effect":"write"}'))).toThrow(/TOOL_EFFECT: tool ".*" has effect "write"/u);
  });
});

describe('parametersSchema', () => {
  it('the model sees plain JSON Schema of what it may send: an argument with a default may be left out', () => {
    expect(parametersSchema(tool({}))).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', default: 1, minimum: -9007199254740991, maximum: 9007199254740991 },
      },
      required: ['city'],
      additionalProperties: false,
    });
  });
});

describe('isToolDefinition', () => {
  it('takes what defineTool made, and nothing that misses a part of it', () => {
    const whole = tool({});
    expect(isToolDefinition(whole)).toBe(true);
    for (const part of ['name', 'description', 'parameters', 'effect', 'timeoutMs', 'approval', 'execute'])
      expect(isToolDefinition({ ...whole, [part]: undefined })).toBe(false);
    expect([null, 'x', {}, []].some(isToolDefinition)).toBe(false);
  });
});

function tool(options: Partial<ToolOptions<z.output<typeof PARAMETERS>>>) {
  return defineTool({ name: 'weather', description: 'Says the weather.', parameters: PARAMETERS, execute: () => 'sunny', ...options });
}
