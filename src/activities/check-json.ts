import { runInNewContext } from 'node:vm';
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { OUTPUT_SCHEMA_LIMITS } from '../contracts/limits.js';
import type { JsonValue } from '../contracts/message.js';
import { draftOf, type OutputSchema } from './output-schema.js';

/** Of thousands of problems the first few say what is wrong. */
const ERRORS_READ = 200;

/**
 * What keeps a value from fitting a schema, each with its place in the value; empty when it fits. The schema is interpreted, never made
 * into code, and nothing is fetched. A check that takes over a second (a catastrophic pattern) is a problem too. Never throws.
 */
export function checkJson(value: JsonValue, schema: OutputSchema): readonly string[] {
  try {
    const validator = new Validator(structuredClone(schema) as Schema, draftOf(schema) ?? '2020-12', false);
    // only a context with a time limit stops a regular expression that runs away
    const { valid, errors } = runInNewContext(
      'check()',
      { check: () => validator.validate(value) },
      { timeout: OUTPUT_SCHEMA_LIMITS.checkMsMax },
    ) as ReturnType<Validator['validate']>;
    return valid ? [] : causes(errors).map(describe);
  } catch (error) {
    return [`the answer could not be checked against the schema: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** The library tells every level that failed because of one below it; only the lowest say something. */
function causes(errors: readonly OutputUnit[]): OutputUnit[] {
  const first = errors.slice(0, ERRORS_READ);
  const isParent = (error: OutputUnit): boolean => first.some((other) => other.keywordLocation.startsWith(`${error.keywordLocation}/`));
  return first.filter((error) => !isParent(error)).slice(0, OUTPUT_SCHEMA_LIMITS.problemsShown);
}

function describe({ instanceLocation, error }: OutputUnit): string {
  const place = instanceLocation.replace(/^#\/?/u, '/');
  return `${place === '/' ? 'the answer' : place}: ${error.slice(0, 300)}`;
}
