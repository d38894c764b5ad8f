import type { JsonValue } from '../../contracts/message.js';
import { choicesOf, type JsonSchema, membersIn, schemaIn, takesNull } from './json-schema.js';

/**
 * Arguments without the nulls that stand for properties left out, as strict mode makes a model write them: a null goes where the tool's
 * own schema lets the property be absent and takes no null. All else is as it was. Never throws.
 */
export function dropNulls(args: JsonValue, schema: JsonSchema): JsonValue {
  return without(args, [schema], schema);
}

function without(value: JsonValue, schemas: readonly JsonSchema[], root: JsonSchema): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  const shapes = [...choicesOf(schemas, root)];
  if (Array.isArray(value)) {
    const items = shapes.map((shape) => schemaIn(shape['items'])).filter((shape) => shape !== undefined);
    return value.map((item) => without(item, items, root));
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    const properties = shapes.flatMap((shape) => propertyIn(shape, name));
    if (member === null && standsForNothing(properties, root)) return [];
    return [
      [
        name,
        without(
          member,
          properties.map(({ schema }) => schema),
          root,
        ),
      ] as const,
    ];
  });
  return Object.fromEntries(members);
}

interface Property {
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

function propertyIn(shape: JsonSchema, name: string): Property[] {
  const found = membersIn(shape['properties']).find(([member]) => member === name);
  const required = Array.isArray(shape['required']) ? shape['required'] : [];
  return found ? [{ schema: found[1], isRequired: required.includes(name) }] : [];
}

function standsForNothing(properties: readonly Property[], root: JsonSchema): boolean {
  const mayBeAbsent = properties.some(({ isRequired }) => !isRequired);
  return mayBeAbsent && properties.every(({ schema }) => !takesNull(schema, root));
}
