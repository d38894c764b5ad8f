import type { z } from 'zod';
import { objectOf } from '../errors/classify-error.js';

/** What a provider keeps beside a part, in its own shape; undefined for a part without, and for what another provider wrote. Never throws. */
export function readOpaque<Schema extends z.ZodType>(schema: Schema, opaque: string | undefined): z.infer<Schema> | undefined {
  return opaque === undefined ? undefined : schema.safeParse(objectOf(opaque)).data;
}
