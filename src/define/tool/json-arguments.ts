import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { z } from 'zod';
import { draftOf } from '../../contracts/json/schema-draft.js';
import type { JsonValue } from '../../contracts/schemas/message.js';

/** A JSON Schema of an object, which describes the arguments of a tool. Keywords are those of the draft in `$schema`. @default 2020-12 */
export interface JsonSchema {
  /** `object`. */
  readonly type: string;
  readonly [keyword: string]: unknown;
}

/** Arguments under a JSON Schema, of which the compiler knows nothing more. */
export type JsonArguments = Readonly<Record<string, JsonValue>>;

/** Problems of one call that the model sees: enough to correct it. */
const PROBLEMS_MAX = 10;

/**
 * A zod schema that accepts what a JSON Schema accepts, unchanged. References are resolved inside the schema only: nothing is fetched. A
 * schema that cannot be used refuses all arguments with its problem. Never throws.
 */
export function jsonArguments<Args>(schema: JsonSchema): z.ZodType<Args> {
  let validator: Validator | undefined;
  return z.custom<Args>().superRefine((args, context) => {
    try {
      // the library adds fields to a schema when it resolves references
      validator ??= new Validator(structuredClone(schema) as Schema, draftOf(schema) ?? '2020-12', false);
      const { valid, errors } = validator.validate(args);
      const found = valid ? [] : causes(errors);
      for (const { instanceLocation, error } of found) context.addIssue({ code: 'custom', path: pathOf(instanceLocation), message: error });
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  });
}

/** The library also reports every level above an error; only the lowest levels are useful. */
function causes(errors: readonly OutputUnit[]): OutputUnit[] {
  const isParent = (error: OutputUnit): boolean => errors.some((other) => other.keywordLocation.startsWith(`${error.keywordLocation}/`));
  return errors.filter((error) => !isParent(error)).slice(0, PROBLEMS_MAX);
}

/** The path of a JSON pointer, such as `#/lines/0`. */
function pathOf(pointer: string): string[] {
  const parts = pointer.replace(/^#\/?/u, '').split('/');
  return parts.flatMap((part) => (part === '' ? [] : decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')));
}
