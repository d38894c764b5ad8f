import type { z } from 'zod';
import type { DocComments } from './doc-comments.js';
import { markdownTable } from './markdown.js';
import { isOptional, schemaDefault, schemaType } from './schema-type.js';

/** The declarations that may comment a field, the first one first: an object that is spread into another one keeps its comments. */
export interface CommentSource {
  readonly docs: DocComments;
  readonly declarations: readonly string[];
}

/** Options of a table of fields. */
export interface FieldTableOptions {
  /** Schemas with a name. */
  readonly names: ReadonlyMap<unknown, string>;
  /** Types that the schema does not show, by field. */
  readonly types?: Readonly<Record<string, string>>;
  /** Fields that are internal, or that another table shows. */
  readonly without?: readonly string[];
  /** False for results, whose fields have no defaults. */
  readonly hasDefaults?: boolean;
}

/** The table of an object's fields: name, type, default, meaning. */
export function schemaTable(
  schema: { readonly shape: Readonly<Record<string, z.ZodType>> },
  { docs, declarations }: CommentSource,
  { names, types = {}, without = [], hasDefaults = true }: FieldTableOptions,
): string {
  const fields = Object.entries(schema.shape).filter(([name]) => !without.includes(name));
  const rows = fields.map(([name, field]) => {
    const comment = docs.ofField(declarations, name);
    const type = types[name] ?? schemaType(field, name, names);
    const fallback = comment.defaultText ?? schemaDefault(field);
    if (!hasDefaults) return [nameCell(name, isOptional(field)), type, comment.text];
    return [`\`${name}\``, type, isOptional(field) ? asDefault(fallback, type) : 'required', comment.text];
  });
  return markdownTable(['field', 'type', ...(hasDefaults ? ['default'] : []), 'meaning'], rows);
}

/** The table of an interface's fields. `hasDefaults` is false for results and contexts. */
export function interfaceTable(docs: DocComments, declaration: string, { hasDefaults }: { readonly hasDefaults: boolean }): string {
  const rows = docs.fieldsOf(declaration).map(({ name, type, isOptional: mayBeAbsent }) => {
    const { text, defaultText } = docs.ofField([declaration], name);
    const shown = `\`${type.replaceAll('`', '')}\``;
    if (!hasDefaults) return [nameCell(name, mayBeAbsent), shown, text];
    return [`\`${name}\``, shown, mayBeAbsent || defaultText !== undefined ? asDefault(defaultText, shown) : 'required', text];
  });
  return markdownTable(['field', 'type', ...(hasDefaults ? ['default'] : []), 'meaning'], rows);
}

function nameCell(name: string, mayBeAbsent: boolean): string {
  return `\`${name}${mayBeAbsent ? '?' : ''}\``;
}

/** A default that is a value of the type is code, as the type shows it. */
function asDefault(text: string | undefined, type: string): string {
  if (text === undefined) return 'none';
  return /^\w[\w-]*$/u.test(text) && new RegExp(`[\`'"|]\\s?${text}\\b`, 'u').test(type) ? `\`${text}\`` : text;
}
