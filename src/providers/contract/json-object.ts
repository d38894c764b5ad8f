import type { z } from 'zod';

/** The JSON object or array that a body is; undefined when it is none. Never throws. */
export function objectOf(body: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return parsed !== null && typeof parsed === 'object' ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What a provider keeps beside a part, in its own shape; undefined for a part without, and for what another provider wrote. Never throws. */
export function readOpaque<Schema extends z.ZodType>(schema: Schema, opaque: string | undefined): z.infer<Schema> | undefined {
  return opaque === undefined ? undefined : schema.safeParse(objectOf(opaque)).data;
}
