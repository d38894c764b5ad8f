import type { JsonValue } from '../schemas/message.js';

/**
 * The value that a JSON text is; undefined when it is none. Of two members with the same name, the last one counts, and half a sign beyond
 * 16 bits is kept. Use a schema on the value: a model or a server wrote it. Throws no SyntaxError.
 */
export function parseJson(text: string): JsonValue | undefined {
  try {
    // JSON.parse returns only JSON values
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
