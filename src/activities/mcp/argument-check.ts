import { type Schema, Validator } from '@cfworker/json-schema';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import { draftOf } from '../../contracts/json/schema-draft.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { outputSchemaProblem } from '../answer/output-schema.js';

/** The JSON Schema of a tool's arguments. */
export type InputSchema = Readonly<Record<string, JsonValue>>;

/** The problem that makes a schema of a server unusable, in one line. Nothing is fetched. Never throws. */
export function inputSchemaProblem(schema: InputSchema): string | undefined {
  if (schema['type'] !== 'object') return 'its schema is not that of an object';
  return outputSchemaProblem(schema, { root: 'inputSchema', bytesMax: MCP_LIMITS.schemaBytesMax });
}

/**
 * The first problem of arguments under a schema that has none; undefined if they match. Patterns, and schemas with references, are left to
 * the server: either could take hours, and this worker has other runs. Never refuses arguments that the whole schema takes. Never throws.
 */
export function argumentsProblem(args: JsonValue, schema: InputSchema): string | undefined {
  if (hasReference(schema)) return undefined;
  try {
    const { valid, errors } = new Validator(withoutPatterns(schema).schema as Schema, draftOf(schema) ?? '2020-12').validate(args);
    const [error] = errors.slice(-1);
    return valid || !error ? undefined : `${error.instanceLocation.replace(/^#\/?/u, '/')}: ${error.error}`.slice(0, 500);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The keywords that hold regular expressions, and those whose values are no schemas. */
const PATTERNS: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format']);
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

/** The keywords whose values are schemas by name. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** The keywords that refuse more if a schema below them takes more. `then` and `else` hang on their `if`. */
const REVERSED: ReadonlySet<string> = new Set(['not', 'oneOf', 'if', 'then', 'else', 'contains']);

/** The keywords that refuse what no other keyword of their schema looked at. */
const RESTS: ReadonlySet<string> = new Set(['unevaluatedProperties', 'unevaluatedItems']);

/** A reference makes a small schema as large as it likes: two that name the next definition, twenty times, are a million checks. */
function hasReference(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.some(hasReference);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(([keyword, value]) => REFERENCES.has(keyword) || (!VALUES.has(keyword) && hasReference(value)));
}

const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** A schema that takes at least what the given one takes, without patterns. `isLooser`: something was left out. */
interface Loosened {
  readonly schema: JsonValue;
  readonly isLooser: boolean;
}

function withoutPatterns(schema: JsonValue): Loosened {
  if (Array.isArray(schema)) {
    const parts = schema.map(withoutPatterns);
    return { schema: parts.map((part) => part.schema), isLooser: parts.some(({ isLooser }) => isLooser) };
  }
  if (!isObject(schema)) return { schema, isLooser: false };
  const kept = Object.entries(schema).filter(([keyword]) => !PATTERNS.has(keyword));
  const parts = kept.map(([keyword, value]) => ({ keyword, ...partWithoutPatterns(keyword, value) }));
  const isLooser = kept.length < Object.keys(schema).length || parts.some((part) => part.isLooser);
  const hasReversed = parts.some((part) => part.isLooser && REVERSED.has(part.keyword));
  const isLeftOut = (keyword: string): boolean =>
    (hasReversed && REVERSED.has(keyword)) ||
    (isLooser && RESTS.has(keyword)) ||
    (keyword === 'additionalProperties' && Object.hasOwn(schema, 'patternProperties'));
  const stay = parts.filter(({ keyword }) => !isLeftOut(keyword));
  return { schema: Object.fromEntries(stay.map((part) => [part.keyword, part.schema])), isLooser };
}

function partWithoutPatterns(keyword: string, value: JsonValue): Loosened {
  if (VALUES.has(keyword)) return { schema: value, isLooser: false };
  if (!MAPS.has(keyword) || !isObject(value)) return withoutPatterns(value);
  const parts = Object.entries(value).map(([name, schema]) => [name, withoutPatterns(schema)] as const);
  return {
    schema: Object.fromEntries(parts.map(([name, part]) => [name, part.schema])),
    isLooser: parts.some(([, part]) => part.isLooser),
  };
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
