import { describe, expect, it } from 'vitest';
import { toolArguments } from '../../../src/activities/call-tool/parse-tool-arguments.js';
import { defineTool, parametersSchema } from '../../../src/define/define-tool.js';
import type { JsonSchema } from '../../../src/define/tool/json-arguments.js';
import { typeCheck } from '../../docs/support/type-check.js';

const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    lines: { type: 'array', items: { $ref: '#/definitions/line' } },
  },
  required: ['city'],
  additionalProperties: false,
  definitions: { line: { type: 'object', properties: { 'a/b': { type: 'integer' } } } },
} as const satisfies JsonSchema;

describe('defineTool with a JSON Schema', () => {
  const tool = toolWith(SCHEMA);

  it('the model sees the schema as it was written, without $schema', () => {
    const { $schema: _, ...seen } = SCHEMA;
    expect(parametersSchema(tool)).toEqual(seen);
  });

  it('arguments that match reach the tool unchanged, also with local references', () => {
    const args = { city: 'Rom', lines: [{ 'a/b': 7 }] };
    expect(toolArguments({ tool: 'weather', args }, tool)).toEqual({ args });
  });

  it.each([
    [{}, 'arguments: Instance does not have required property "city"'],
    [{ city: 'x' }, 'city: String is too short'],
    [{ city: 'Rom', lines: [{}, { 'a/b': 'x' }] }, 'lines.1.a/b: Instance type "string" is invalid. Expected "integer"'],
    [{ city: 'Rom', days: 3 }, 'days: False boolean schema.'],
    ['Rom', 'arguments: Instance type "string" is invalid. Expected "object"'],
  ])('B25: arguments %j are refused with the path and the reason', (args, problem) => {
    expect(toolArguments({ tool: 'weather', args }, tool)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it('a schema with a reference to nothing refuses all arguments, and one to another document is refused itself', () => {
    const foreign = { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/schema.json' } } };
    expect(() => toolWith(foreign)).toThrow('TOOL_PARAMETERS: tool "weather" refers to another document');
    const lost = toolWith({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } });
    expect(toolArguments({ tool: 'weather', args: { a: 1 } }, lost)).toMatchObject({ problem: expect.stringContaining('Unresolved $ref') });
  });

  it('a schema that is not JSON is refused with the reason', () => {
    const own: Record<string, unknown> = {};
    own['itself'] = own;
    expect(() => toolWith({ type: 'object', properties: own })).toThrow('TOOL_PARAMETERS: tool "weather" has a schema that is not JSON: ');
  });

  it('the type of the arguments is the one that execute declares, else that of JSON', async () => {
    const start = `
      import { defineTool } from 'perdure';
      const base = { name: 'x', description: 'x', parameters: { type: 'object', properties: { city: { type: 'string' } } } };
    `;
    const messages = await typeCheck({
      declared: `${start}export const tool = defineTool({ ...base, execute: ({ city }: { city: string }) => city.length });`,
      json: `${start}export const tool = defineTool({ ...base, execute: ({ city }) => (typeof city === 'string' ? city.length : 0) });`,
      unchecked: `${start}export const tool = defineTool({ ...base, execute: ({ city }) => city.length });`,
      result: `${start}export const tool = defineTool({ ...base, execute: () => new Map() });`,
    });
    const broken = messages.flatMap((line) => /examples\/(?<name>\w+)\.ts.*error TS/u.exec(line)?.groups?.['name'] ?? []);
    expect(new Set(broken)).toEqual(new Set(['unchecked', 'result']));
  });
});

function toolWith(parameters: JsonSchema) {
  return defineTool({ name: 'weather', description: 'The weather.', parameters, execute: () => 'sunny' });
}
