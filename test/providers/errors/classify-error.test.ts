import { expect, it } from 'vitest';
import { toModelError } from '../../../src/providers/errors/classify-error.js';
import { cpuMs } from '../../support/cpu-time.js';

it.each(['constructor', 'toString', '__proto__'])('an error of type %j, a name that every object has, is one of no known type', (type) => {
  expect(toModelError({ error: { type, message: 'No.' } })).toMatchObject({ type: 'Model.Overloaded', message: 'No.' });
});

it.each(['too many tokens ', 'arguments ', 'Unterminated string ', 'input token count ', 'x '])(
  'X32: an error of 1 MB of %j is classed in a moment: it would hold up the whole worker',
  (words) => {
    const error = Object.assign(new Error(words.repeat(1_000_000 / words.length)), { status: 400 });
    const startedAt = cpuMs();
    expect(toModelError(error, `sk-${'abcdefghij'.repeat(20)}`).type).toBe('Model.BadRequest');
    expect(cpuMs() - startedAt).toBeLessThan(500);
  },
);
