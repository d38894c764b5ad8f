import type { JsonValue } from '../../contracts/schemas/message.js';
import { type JsonSchema, membersIn, schemaIn, schemasIn } from './json-schema.js';
import { takesNull } from './strip-nulls.js';

/** What the API takes of a schema in strict mode: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
const PROPERTIES_MAX = 5_000;
const DEPTH_MAX = 10;
const ENUM_VALUES_MAX = 1_000;

const FORMATS: ReadonlySet<JsonValue> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);

/** Kept as they are. What is not here and only narrows values is left out: each tool checks its arguments itself. */
const KEPT = ['type', 'title', 'description', 'enum', 'const', 'multipleOf', 'minItems', 'maxItems'] as const;
const RANGES = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/** What says more about values than their names and types: without it other values would be meant. */
const SHAPES = ['allOf', 'patternProperties', 'prefixItems', 'additionalItems', 'unevaluatedProperties', '$dynamicRef'] as const;

/** What may stand beside a reference or a choice, and is left out there. */
const NOTES: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$comment',
  '$schema',
  '$id',
  '$defs',
  'definitions',
]);

/**
 * A schema as OpenAI's strict mode takes it: objects are closed, and each property is required, null standing for one that is left out.
 * Undefined where that cannot be said: for maps, tuples, values of any type, and schemas too large or too deep.
 */
export function openAiStrictSchema(schema: JsonSchema): JsonSchema | undefined {
  if (schema['type'] !== 'object' || 'anyOf' in schema || 'oneOf' in schema) return undefined;
  const count = { properties: 0, enumValues: 0 };
  const place: Place = { root: schema, depth: 0, count };
  const body = strictObject(schema, place);
  if (!body) return undefined;
  const definitions: [string, JsonSchema][] = [];
  for (const [name, definition] of [...membersIn(schema['$defs']), ...membersIn(schema['definitions'])]) {
    const strict = strictNode(definition, place);
    if (!strict) return undefined;
    definitions.push([name, strict]);
  }
  const isTooLarge = count.properties > PROPERTIES_MAX || count.enumValues > ENUM_VALUES_MAX;
  return isTooLarge ? undefined : { ...body, ...(definitions.length > 0 ? { $defs: Object.fromEntries(definitions) } : {}) };
}

interface Place {
  readonly root: JsonSchema;
  readonly depth: number;
  readonly count: { properties: number; enumValues: number };
}

function strictNode(node: JsonSchema, place: Place): JsonSchema | undefined {
  if (place.depth > DEPTH_MAX || SHAPES.some((name) => name in node)) return undefined;
  if ('$ref' in node) return strictReference(node);
  if ('anyOf' in node || 'oneOf' in node) return strictChoice(node, place);
  if (node['type'] === 'object' || 'properties' in node) return strictObject(node, place);
  if (Array.isArray(node['enum'])) place.count.enumValues += node['enum'].length;
  if (node['type'] === 'array' || 'items' in node) return strictList(node, place);
  const { type } = node;
  if (Array.isArray(type) && type.some((name) => name === 'object' || name === 'array')) return undefined;
  return type === undefined && !('enum' in node) && !('const' in node) ? undefined : keptOf(node);
}

/** The API takes a reference only alone, and definitions only under one name. */
function strictReference(node: JsonSchema): JsonSchema | undefined {
  const ref = node['$ref'];
  const isAlone = Object.keys(node).every((name) => name === '$ref' || NOTES.has(name));
  if (!isAlone || typeof ref !== 'string') return undefined;
  const isKnown = ref === '#' || /^#\/(?:\$defs|definitions)\/[^/]+$/u.test(ref);
  return isKnown ? { $ref: ref.replace('#/definitions/', '#/$defs/') } : undefined;
}

function strictChoice(node: JsonSchema, place: Place): JsonSchema | undefined {
  const isAlone = Object.keys(node).every((name) => name === 'anyOf' || name === 'oneOf' || name === 'type' || NOTES.has(name));
  const choices = [...schemasIn(node['anyOf']), ...schemasIn(node['oneOf'])];
  const isOne = !('anyOf' in node && 'oneOf' in node);
  if (!isAlone || !isOne || choices.length === 0) return undefined;
  const anyOf = choices.map((choice) => strictNode(choice, deeper(place)));
  return isAll(anyOf) ? { ...notesOf(node), anyOf } : undefined;
}

function strictObject(node: JsonSchema, place: Place): JsonSchema | undefined {
  const isClosed = node['additionalProperties'] === undefined || node['additionalProperties'] === false;
  if (!isClosed || !schemaIn(node['properties']) || SHAPES.some((name) => name in node)) return undefined;
  if (node['type'] !== undefined && node['type'] !== 'object') return undefined;
  const required = Array.isArray(node['required']) ? node['required'] : [];
  const properties: [string, JsonSchema][] = [];
  for (const [name, property] of membersIn(node['properties'])) {
    place.count.properties += 1;
    const strict = strictNode(property, deeper(place));
    if (!strict) return undefined;
    properties.push([name, required.includes(name) ? strict : orNull(strict, place.root)]);
  }
  return {
    ...notesOf(node),
    type: 'object',
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

function strictList(node: JsonSchema, place: Place): JsonSchema | undefined {
  const items = schemaIn(node['items']);
  const strict = items && node['type'] === 'array' ? strictNode(items, deeper(place)) : undefined;
  return strict && { ...keptOf(node), items: strict };
}

function keptOf(node: JsonSchema): JsonSchema {
  const names = [...KEPT, ...RANGES].filter((name) => node[name] !== undefined);
  const kept = Object.fromEntries(names.flatMap((name) => (node[name] === undefined ? [] : [[name, node[name]]])));
  const { format, pattern } = node;
  return {
    ...kept,
    ...(format !== undefined && FORMATS.has(format) ? { format } : {}),
    // the API knows no groups that look around
    ...(typeof pattern === 'string' && !pattern.includes('(?') ? { pattern } : {}),
  };
}

function notesOf({ title, description }: JsonSchema): JsonSchema {
  return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

/** The same values, and null. */
function orNull(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (takesNull(schema, root)) return schema;
  const { type, enum: values, const: constant, anyOf, ...rest } = schema;
  if (Array.isArray(anyOf)) return { ...rest, anyOf: [...anyOf, { type: 'null' }] };
  if (type === undefined || 'properties' in schema) return { anyOf: [schema, { type: 'null' }] };
  const choices = constant === undefined ? values : [constant];
  return {
    ...rest,
    type: [...[type].flat(), 'null'],
    ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}),
  };
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function isAll(schemas: readonly (JsonSchema | undefined)[]): schemas is JsonSchema[] {
  return schemas.every((schema) => schema !== undefined);
}
