import type { z } from 'zod';
import { PerdureError } from '../contracts/perdure-error.js';
import { didYouMean } from '../contracts/text/did-you-mean.js';
import { echoValue } from '../contracts/text/echo-value.js';

/** The input of a tool or a route. Throws PerdureError (2) with the first fault: `UNKNOWN_OPTION` or `BAD_OPTION`. */
export function checkInput<Input extends z.ZodObject>(schema: Input, given: unknown): z.output<Input> {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const hint = issue.path.length === 0 ? didYouMean(key, Object.keys(schema.shape)) : '';
    throw new PerdureError('UNKNOWN_OPTION', `${echoValue(key).replaceAll('"', '')}${hint}`, 2);
  }
  const [field = 'input'] = issue?.path ?? [];
  const value = issue?.path.length === 0 ? given : valueAt(given, field);
  const problem = value === undefined ? 'is missing' : `${issue?.message ?? 'not valid'}, got ${echoValue(value)}`;
  throw new PerdureError('BAD_OPTION', `${String(field)}: ${problem}`, 2);
}

function valueAt(given: unknown, field: PropertyKey): unknown {
  return typeof given === 'object' && given !== null ? Reflect.get(given, field) : undefined;
}
