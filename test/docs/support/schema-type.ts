import { z } from 'zod';
import { JsonValue } from '../../../src/contracts/schemas/message.js';
import { quantity } from './quantity.js';

/** The type of a field as a table shows it. `names` are schemas that have a name, and usually a table of their own. */
export function schemaType(schema: z.ZodType, field: string, names: ReadonlyMap<unknown, string>): string {
  const inner = withoutWrapper(schema);
  const name = names.get(inner);
  if (name !== undefined) return `\`${name}\``;
  if (inner === JsonValue) return 'JSON';
  if (inner instanceof z.ZodNumber) return numberType(inner, field);
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => `\`${option}\``).join(', ');
  if (inner instanceof z.ZodLiteral) return `\`${String(inner.value)}\``;
  if (inner instanceof z.ZodArray) return `list of ${plural(elementType(inner.element, names))}`;
  if (inner instanceof z.ZodRecord) return `record of ${plural(elementType(inner.valueType, names))}`;
  if (inner instanceof z.ZodUnion) return [...new Set(inner.options.map((option) => elementType(option, names)))].join(' or ');
  if (inner instanceof z.ZodObject) return `\`${objectType(inner)}\``;
  return SIMPLE_TYPES[inner.def.type] ?? inner.def.type;
}

/** The value that a schema fills in, as a table shows it; undefined when it has none. */
export function schemaDefault(schema: z.ZodType): string | undefined {
  if (!(schema instanceof z.ZodDefault)) return undefined;
  const value: unknown = schema.def.defaultValue;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => `\`${String(item)}\``).join(', ');
  if (typeof value === 'object') return undefined;
  return typeof value === 'string' ? `\`${value}\`` : quantity('', value);
}

/** True when the field may be left out. */
export function isOptional(schema: z.ZodType): boolean {
  return schema instanceof z.ZodExactOptional || schema.safeParse(undefined).success;
}

/** Names in code stay as they are. */
function plural(type: string): string {
  return type === 'string' || type === 'record of string' ? `${type}s` : type;
}

const SIMPLE_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  custom: 'function',
  boolean: 'boolean',
  json: 'JSON',
  lazy: 'JSON',
};

function withoutWrapper(schema: z.ZodType): z.ZodType {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  if (isWrapper || schema instanceof z.ZodExactOptional) {
    // zod types the inner schema by its core interface; every schema here is a classic one
    return withoutWrapper(schema.unwrap() as z.ZodType);
  }
  return schema;
}

function elementType(schema: unknown, names: ReadonlyMap<unknown, string>): string {
  return schemaType(schema as z.ZodType, '', names);
}

function numberType({ minValue, maxValue, isInt, def }: z.ZodNumber, field: string): string {
  const kind = isInt ? 'integer' : 'number';
  const isAbove = def.checks?.some(({ _zod }) => _zod.def.check === 'greater_than' && Reflect.get(_zod.def, 'inclusive') === false);
  const min =
    minValue !== null && Math.abs(minValue) < Number.MAX_SAFE_INTEGER ? quantity(minValue === 0 ? '' : field, minValue) : undefined;
  const max = maxValue !== null && maxValue < Number.MAX_SAFE_INTEGER ? quantity(field, maxValue) : undefined;
  if (min === undefined) return kind;
  if (max === undefined) return isAbove ? `${kind} above ${min}` : `${kind}, at least ${min}`;
  return `${kind}, ${min} to ${max}`;
}

function objectType(schema: z.ZodObject): string {
  const fields = Object.entries(schema.shape).map(([name, field]) => (isOptional(field as z.ZodType) ? `${name}?` : name));
  return `{ ${fields.join(', ')} }`;
}
