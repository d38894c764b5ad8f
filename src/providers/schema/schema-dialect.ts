import type { JsonValue } from '../../contracts/schemas/message.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';
import { geminiSchema } from './gemini-schema.js';
import type { JsonSchema } from './json-schema.js';
import { openAiStrictSchema } from './openai-strict-schema.js';

/** A dialect of JSON Schema. */
export type SchemaDialect = NonNullable<ProviderQuirks['schemaDialect']>;

/** A schema in a dialect. `strict`: the server is told to keep to it to the letter. */
export interface DialectSchema {
  readonly schema: Record<string, JsonValue>;
  readonly strict: boolean;
}

const made = new WeakMap<JsonSchema, Map<SchemaDialect, DialectSchema>>();

/**
 * A tool's schema in the dialect that a server takes. Where strict mode cannot say it, it is as it is and not strict. Made once for each
 * schema object. Never throws.
 */
export function toDialect(schema: Record<string, JsonValue>, dialect: SchemaDialect): DialectSchema {
  const kept = made.get(schema) ?? new Map<SchemaDialect, DialectSchema>();
  const converted = kept.get(dialect) ?? make(schema, dialect);
  made.set(schema, kept.set(dialect, converted));
  return converted;
}

function make(schema: Record<string, JsonValue>, dialect: SchemaDialect): DialectSchema {
  switch (dialect) {
    case 'json-schema':
      return { schema, strict: false };
    case 'gemini':
      return { schema: geminiSchema(schema), strict: false };
    case 'openai-strict': {
      const strict = openAiStrictSchema(schema);
      return strict ? { schema: strict, strict: true } : { schema, strict: false };
    }
  }
}
