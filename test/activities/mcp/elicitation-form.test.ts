import { describe, expect, it } from 'vitest';
import { readElicitation } from '../../../src/activities/mcp/elicitation-form.js';

describe('readElicitation', () => {
  it.each([
    ['a number', { type: 'integer', minimum: 5, maximum: 1 }, 'field: no value is from 5 to 1'],
    ['a text', { type: 'string', minLength: 9, maxLength: 2 }, 'field: no value is from 9 to 2'],
    [
      'some choices',
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 2, maxItems: 1 },
      'field: no value is from 2 to 1',
    ],
    ['more choices than there are', { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 3 }, 'field: 3 of 2 choices'],
  ] as const)('B7: a form that asks for %s that nobody can give is refused', (_, field, problem) => {
    const requestedSchema = { type: 'object', properties: { field } } as never;
    expect(() => readElicitation({ message: 'Which?', requestedSchema })).toThrow(new Error(problem));
  });
});
