import type { JsonValue } from '../../contracts/schemas/message.js';

/** A JSON Schema that is an object. */
export type JsonSchema = Readonly<Record<string, JsonValue>>;

/** References that point to references, at most. */
const HOPS_MAX = 32;

/** The schema that a value is; undefined for `true`, `false` and what is none. */
export function schemaIn(value: JsonValue | undefined): JsonSchema | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
}

/** The schemas of a list; empty for what is no list. */
export function schemasIn(value: JsonValue | undefined): readonly JsonSchema[] {
  return Array.isArray(value) ? value.map(schemaIn).filter((item) => item !== undefined) : [];
}

/** The members of a schema's `properties`, or of its definitions. */
export function membersIn(value: JsonValue | undefined): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(schemaIn(value) ?? {}).map(([name, member]) => [name, schemaIn(member) ?? {}] as const);
}

/** What a schema refers to within its root, through references of references; itself when it refers to nothing, undefined to what is not there. */
export function resolveRef(schema: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  let found: JsonSchema | undefined = schema;
  for (let hops = 0; found && hops < HOPS_MAX; hops += 1) {
    const ref: JsonValue | undefined = found['$ref'];
    if (typeof ref !== 'string') return found;
    found = pointedTo(ref, root);
  }
  return undefined;
}

function pointedTo(ref: string, root: JsonSchema): JsonSchema | undefined {
  if (!ref.startsWith('#')) return undefined;
  let found: JsonValue | undefined = root;
  for (const step of ref.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const inner = schemaIn(found);
    found = inner && Object.hasOwn(inner, name) ? inner[name] : undefined;
  }
  return schemaIn(found);
}

/** Schemas with all that they refer to and let choose from, each once. */
export function choicesOf(schemas: readonly JsonSchema[], root: JsonSchema): ReadonlySet<JsonSchema> {
  const found = new Set<JsonSchema>();
  const open = [...schemas];
  for (let schema = open.pop(); schema; schema = open.pop()) {
    const resolved = resolveRef(schema, root);
    if (!resolved || found.has(resolved)) continue;
    found.add(resolved);
    open.push(...schemasIn(resolved['anyOf']), ...schemasIn(resolved['oneOf']));
  }
  return found;
}
