import { schemaArrayKeyword, schemaKeyword, schemaMapKeyword } from '@cfworker/json-schema';

/** The first reference of a schema to another document, with its path below `root`; undefined without one. Nothing is ever fetched. */
export function foreignReference(root: string, schema: unknown): string | undefined {
  for (const { path, schema: part } of subschemas(root, schema)) {
    const problem = referenceProblem(part);
    if (problem !== undefined) return `${path}${problem}`;
  }
  return undefined;
}

/** A schema and all its subschemas, each with its path. */
export function* subschemas(path: string, schema: unknown): Generator<{ readonly path: string; readonly schema: unknown }> {
  yield { path, schema };
  if (!isObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${path}.${keyword}`;
    if (Array.isArray(value) && schemaArrayKeyword[keyword]) {
      for (const [index, item] of value.entries()) yield* subschemas(`${here}.${index}`, item);
    } else if (isObject(value) && schemaMapKeyword[keyword]) {
      for (const [name, item] of Object.entries(value)) yield* subschemas(`${here}.${name}`, item);
    } else if (schemaKeyword[keyword]) yield* subschemas(here, value);
  }
}

/** The problem of the reference of one schema, to follow its path; undefined for a reference inside the schema, and without one. */
export function referenceProblem(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined;
  const { $ref, $dynamicRef } = schema;
  if ($dynamicRef !== undefined) return '.$dynamicRef: use $ref';
  if ($ref === undefined || (typeof $ref === 'string' && $ref.startsWith('#'))) return undefined;
  return '.$ref: only references inside the schema, which begin with #; nothing is fetched';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
