import { dereference, type Schema, schemaMapKeyword } from '@cfworker/json-schema';
import { OUTPUT_SCHEMA_LIMITS } from '../../contracts/constants/limits.js';
import { DRAFT_WORDS, draftOf } from '../../contracts/json/schema-draft.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { referenceProblem, subschemas } from '../../define/tool/schema-references.js';

const TYPES: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

/** The JSON Schema of a run's answer: an object. */
export type OutputSchema = Readonly<Record<string, JsonValue>>;

/** How problems name a schema, and its largest size in bytes. */
export interface SchemaPlace {
  readonly root: string;
  readonly bytesMax: number;
}

/**
 * The problem that makes a schema unusable, with its path; undefined when there is none. Only references inside the schema are resolved:
 * nothing is fetched. `given` replaces the name and the limit of a run's `outputSchema`. Never throws.
 */
export function outputSchemaProblem(schema: OutputSchema, given: Partial<SchemaPlace> = {}): string | undefined {
  const place = { root: 'outputSchema', bytesMax: OUTPUT_SCHEMA_LIMITS.bytesMax, ...given };
  try {
    return sizeProblem(schema, place) ?? partProblem(schema, place) ?? lostReference(schema, place);
  } catch (error) {
    if (error instanceof RangeError) return `${place.root}: it is nested too deeply`;
    return `${place.root}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function sizeProblem(schema: OutputSchema, { root, bytesMax }: SchemaPlace): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > bytesMax) return `${root}: ${bytes} bytes, at most ${bytesMax}`;
  return draftOf(schema) === undefined ? `${root}.$schema: use one of ${DRAFT_WORDS.join(', ')}` : undefined;
}

function partProblem(schema: OutputSchema, { root }: SchemaPlace): string | undefined {
  for (const { path, schema: part } of subschemas(root, schema)) {
    const problem = shapeProblem(part) ?? referenceProblem(part);
    if (problem) return `${path}${problem}`;
  }
  return undefined;
}

/** The first reference without a target. It works on a copy, because the library adds fields when it resolves references. */
function lostReference(schema: OutputSchema, { root }: SchemaPlace): string | undefined {
  const copy = structuredClone(schema) as Schema;
  const lookup = dereference(copy);
  for (const { path, schema: part } of subschemas(root, copy)) {
    const target = isObject(part) ? Reflect.get(part, '__absolute_ref__') : undefined;
    if (typeof target === 'string' && lookup[target] === undefined) return `${path}.$ref: points to nothing in this schema`;
  }
  return undefined;
}

function shapeProblem(schema: unknown): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return ': a schema is an object, true or false';
  const { type, enum: values, required, pattern, patternProperties } = schema;
  if (type !== undefined && ![type].flat().every((name) => TYPES.has(name))) return `.type: use ${[...TYPES].join(', ')}`;
  if (values !== undefined && !Array.isArray(values)) return '.enum: a list of values';
  if (required !== undefined && !isListOfNames(required)) return '.required: a list of names';
  const notMap = Object.keys(schemaMapKeyword).find((keyword) => schema[keyword] !== undefined && !isObject(schema[keyword]));
  if (notMap) return `.${notMap}: schemas by name`;
  const notList = ['allOf', 'anyOf', 'oneOf'].find((keyword) => schema[keyword] !== undefined && !Array.isArray(schema[keyword]));
  if (notList) return `.${notList}: a list of schemas`;
  const patterns = [...(pattern === undefined ? [] : [pattern]), ...(isObject(patternProperties) ? Object.keys(patternProperties) : [])];
  return patterns.map(patternProblem).find((problem) => problem !== undefined);
}

function patternProblem(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return '.pattern: a regular expression as text';
  try {
    RegExp(pattern, 'u');
    return undefined;
  } catch (error) {
    return `.pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
