import type { z } from 'zod';
import type { JsonValue } from '../schemas/message.js';
import type { RunInput, RunResult } from '../schemas/run.js';

/** A schema of zod 4 that answers of type `Structured` match. Type parameters of zod: what it makes of an answer, and the answer. */
export type ZodSchema<Structured> = z.ZodType<unknown, Structured>;

/** The schema of an answer: of zod 4, or JSON Schema. */
export type OutputSchema<Structured = JsonValue> = ZodSchema<Structured> | NonNullable<RunInput['outputSchema']>;

/**
 * The input of a run, with the type of its structured answer. `outputSchema` may be a schema of zod 4, which is sent as JSON Schema: what
 * JSON Schema cannot express, such as a refinement or a transform, is not applied.
 */
export type TypedRunInput<Structured = JsonValue> = Omit<RunInput, 'outputSchema'> & {
  outputSchema?: OutputSchema<Structured> | undefined;
};

/** The result of a run, with the type of its structured answer: that of the schema's input, because transforms are not applied. */
export type TypedRunResult<Structured = JsonValue> = Omit<RunResult, 'structured'> & { structured?: Structured | undefined };

/** What zod 4 puts on each schema. */
interface ConvertibleSchema {
  toJSONSchema(options: { readonly io: 'input' }): Record<string, unknown>;
}

/**
 * An `outputSchema` as it is sent: a schema of zod 4 as JSON Schema, anything else unchanged. `problem` says why a schema cannot be sent.
 * It calls the schema's own method and loads no zod, so that workflow code can use it. Never throws.
 */
export function toJsonSchema(given: unknown): { readonly schema: unknown } | { readonly problem: string } {
  if (typeof given !== 'object' || given === null) return { schema: given };
  if (isConvertible(given)) return convert(given);
  if ('_zod' in given)
    return { problem: 'a schema without the method toJSONSchema, such as one of zod/mini. Pass z.toJSONSchema(schema).' };
  // a JSON Schema has none of the two: an underscore begins no keyword
  if ('_def' in given) return { problem: 'a schema of zod 3. Use zod 4, or JSON Schema.' };
  return { schema: given };
}

function isConvertible(given: object): given is ConvertibleSchema {
  return '_zod' in given && 'toJSONSchema' in given && typeof given.toJSONSchema === 'function';
}

function convert(given: ConvertibleSchema): { readonly schema: unknown } | { readonly problem: string } {
  try {
    const { $schema: _, ...schema } = given.toJSONSchema({ io: 'input' });
    return { schema };
  } catch (error) {
    return { problem: `a zod schema that is not JSON Schema: ${error instanceof Error ? error.message : String(error)}` };
  }
}
