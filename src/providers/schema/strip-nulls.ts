import { takesNull } from '../../activities/providers/takes-null.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { choicesOf, type JsonSchema, schemaIn } from './json-schema.js';

/**
 * Arguments without the nulls that stand for properties left out, as strict mode makes a model write them: a null goes where the tool's
 * own schema lets the property be absent and takes no null. All else is as it was. Never throws.
 */
export function dropNulls(args: JsonValue, schema: JsonSchema): JsonValue {
  return without(args, choicesOf([schema], schema), schema);
}

/** `choices` are all that the value may be: found once for all items of a list. */
function without(value: JsonValue, choices: ReadonlySet<JsonSchema>, root: JsonSchema): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  const shapes = [...choices];
  if (Array.isArray(value)) {
    const items = shapes.map((shape) => schemaIn(shape['items'])).filter((shape) => shape !== undefined);
    const choicesOfItems = choicesOf(items, root);
    return value.map((item) => without(item, choicesOfItems, root));
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    const properties = shapes.flatMap((shape) => propertyIn(shape, name));
    if (member === null && standsForNothing(properties, root)) return [];
    if (member === null || typeof member !== 'object') return [[name, member] as const];
    const schemas = properties.map(({ schema }) => schema);
    return [[name, without(member, choicesOf(schemas, root), root)] as const];
  });
  return Object.fromEntries(members);
}

interface Property {
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

function propertyIn(shape: JsonSchema, name: string): Property[] {
  const properties = schemaIn(shape['properties']) ?? {};
  if (!Object.hasOwn(properties, name)) return [];
  const required = Array.isArray(shape['required']) ? shape['required'] : [];
  return [{ schema: schemaIn(properties[name]) ?? {}, isRequired: required.includes(name) }];
}

/** Among several shapes nobody knows which was meant: absent is taken where all let it be, and null where one of them must have it. */
function standsForNothing(properties: readonly Property[], root: JsonSchema): boolean {
  const takers = properties.filter(({ schema }) => takesNull(schema, root));
  const optional = properties.filter(({ isRequired }) => !isRequired);
  if (optional.length === 0 || takers.length === properties.length) return false;
  return optional.length === properties.length || takers.length === 0;
}
