import type { JsonValue } from '../../contracts/schemas/message.js';
import { type JsonSchema, membersIn, resolveRef, schemaIn, schemasIn } from './json-schema.js';

/** A definition that refers to itself is told this many times in itself. */
const SAME_REF_MAX = 2;
const DEPTH_MAX = 20;
/** Definitions that refer to each other could make a schema of any size. */
const NODES_MAX = 2_000;

/** Formats that the API knows, by type: https://ai.google.dev/api/caching#Schema */
const FORMATS: Readonly<Record<string, ReadonlySet<JsonValue>>> = {
  string: new Set(['enum', 'date-time']),
  number: new Set(['float', 'double']),
  integer: new Set(['int32', 'int64']),
};

const KEPT = ['title', 'description', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum'] as const;

/** The API wants a type for each value; this is what stands for any. */
const ANY: JsonSchema = {
  anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }, { type: 'array', items: { type: 'string' } }],
};

/**
 * A schema in the part of OpenAPI's dialect that Gemini takes: references are told where they stand, `null` is a mark, constants and
 * choices are lists of texts. What cannot be said is left open, never made narrower. Bounded, also for schemas that refer to themselves.
 */
export function geminiSchema(schema: JsonSchema): JsonSchema {
  return geminiNode(schema, { root: schema, depth: 0, refs: [], budget: { nodes: NODES_MAX } });
}

interface Place {
  readonly root: JsonSchema;
  readonly depth: number;
  /** The references that led here. */
  readonly refs: readonly JsonValue[];
  readonly budget: { nodes: number };
}

function geminiNode(node: JsonSchema, place: Place): JsonSchema {
  place.budget.nodes -= 1;
  const isTooMuch = place.depth > DEPTH_MAX || place.budget.nodes < 0;
  const ref = node['$ref'];
  if (isTooMuch || (ref !== undefined && place.refs.filter((seen) => seen === ref).length >= SAME_REF_MAX)) return left(node, place);
  if (ref === undefined) return geminiPlain(merged(node, place), place);
  const { $ref: _, ...beside } = node;
  return geminiNode({ ...resolveRef(node, place.root), ...beside }, { ...place, depth: place.depth + 1, refs: [...place.refs, ref] });
}

/** What is too deep to be told is told by its type. */
function left(node: JsonSchema, { root }: Place): JsonSchema {
  const type = typesOf(resolveRef(node, root) ?? {})[0] ?? 'object';
  return type === 'array' ? { type, items: { type: 'string' } } : { type };
}

/** A schema with those of its `allOf` in it. */
function merged(node: JsonSchema, { root }: Place): JsonSchema {
  const parts = schemasIn(node['allOf']).map((part) => resolveRef(part, root) ?? {});
  if (parts.length === 0) return node;
  const { allOf: _, ...own } = node;
  const all = [...parts, own];
  const properties = Object.fromEntries(all.flatMap((part) => membersIn(part['properties'])));
  const required = [...new Set(all.flatMap((part) => part['required'] ?? []))];
  return { ...Object.assign({}, ...all), ...(Object.keys(properties).length > 0 ? { properties, required } : {}) };
}

function geminiPlain(node: JsonSchema, place: Place): JsonSchema {
  const choices = [...schemasIn(node['anyOf']), ...schemasIn(node['oneOf'])];
  const types = typesOf(node);
  if (choices.length > 0) return geminiChoices(node, choices, place);
  const some = types.filter((type) => type !== 'null');
  const nullable = types.includes('null') ? { nullable: true } : {};
  if (some.length > 1) return { ...notesOf(node), ...nullable, anyOf: some.map((type) => geminiType({ ...node, type }, type, place)) };
  const [type] = some;
  if (type === undefined) return { ...notesOf(node), ...ANY, nullable: true };
  return { ...geminiType(node, type, place), ...nullable };
}

function geminiChoices(node: JsonSchema, choices: readonly JsonSchema[], place: Place): JsonSchema {
  const some = choices.filter((choice) => choice['type'] !== 'null' && choice['const'] !== null);
  const nullable = some.length < choices.length ? { nullable: true } : {};
  const told = some.map((choice) => geminiNode(choice, deeper(place)));
  const [only] = told;
  if (told.length === 1) return { ...only, ...notesOf(node), ...nullable };
  return { ...notesOf(node), ...nullable, anyOf: told.length > 0 ? told : [{ type: 'string' }] };
}

function geminiType(node: JsonSchema, type: string, place: Place): JsonSchema {
  const { format } = node;
  const base = {
    type,
    ...keptOf(node),
    ...(format !== undefined && FORMATS[type]?.has(format) ? { format } : {}),
  };
  switch (type) {
    case 'object':
      return { ...base, ...geminiProperties(node, place) };
    case 'array':
      return { ...base, items: geminiItems(node, place) };
    default:
      return { ...base, ...geminiValues(node, type) };
  }
}

function geminiProperties(node: JsonSchema, place: Place): JsonSchema {
  const properties = membersIn(node['properties']).map(([name, property]) => [name, geminiNode(property, deeper(place))] as const);
  if (properties.length === 0) return place.depth === 0 ? { properties: {} } : {};
  const names = new Set(properties.map(([name]) => name));
  const required = [node['required'] ?? []].flat().filter((name): name is string => typeof name === 'string' && names.has(name));
  return { properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) };
}

/** A tuple is told as a list of what may be in it. */
function geminiItems(node: JsonSchema, place: Place): JsonSchema {
  const tuple = [...schemasIn(node['prefixItems']), ...schemasIn(node['items'])];
  if (tuple.length > 0) return geminiNode({ anyOf: [...tuple] }, deeper(place));
  const items = schemaIn(node['items']);
  return items ? geminiNode(items, deeper(place)) : { type: 'string' };
}

/** Only texts can be listed; a number's own values stand in its description. */
function geminiValues(node: JsonSchema, type: string): JsonSchema {
  const values = node['const'] === undefined ? node['enum'] : [node['const']];
  if (!Array.isArray(values)) return {};
  if (type === 'string') return { enum: values.filter((value) => typeof value === 'string') };
  const told = `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  return { description: typeof node['description'] === 'string' ? `${node['description']} (${told})` : told };
}

function typesOf({ type, const: constant, enum: values, properties, items }: JsonSchema): string[] {
  if (type !== undefined) return [type].flat().filter((name) => typeof name === 'string');
  const given = constant === undefined ? values : [constant];
  if (Array.isArray(given)) return [...new Set(given.map(typeOf))];
  if (properties !== undefined) return ['object'];
  return items === undefined ? [] : ['array'];
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function keptOf(node: JsonSchema): JsonSchema {
  return Object.fromEntries(KEPT.flatMap((name) => (node[name] === undefined ? [] : [[name, node[name]]])));
}

function notesOf({ title, description }: JsonSchema): JsonSchema {
  return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}
