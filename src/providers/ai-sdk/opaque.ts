import { z } from 'zod';
import { JsonValue } from '../../contracts/schemas/message.js';
import { readOpaque } from '../contract/json-object.js';
import type { AiSdkOptions } from './model.js';

/** What `opaque` holds for models of the AI SDK: whose it is, and what that provider wants back with the part. */
const AiSdkOpaque = z.strictObject({ aiSdk: z.string(), metadata: z.record(z.string(), z.record(z.string(), JsonValue)) });

const Metadata = AiSdkOpaque.shape.metadata;

/** A provider's metadata of a part as `opaque`. Metadata that is no JSON is left out. Never throws. */
export function aiSdkOpaque(provider: string, metadata: unknown): string {
  const opaque: z.infer<typeof AiSdkOpaque> = { aiSdk: provider, metadata: Metadata.safeParse(metadata).data ?? {} };
  return JSON.stringify(opaque);
}

/** What a part of this very provider had; undefined for a part of any other, whose metadata is nothing to it. Never throws. */
export function metadataOf(provider: string, opaque: string | undefined): AiSdkOptions | undefined {
  const parsed = readOpaque(AiSdkOpaque, opaque);
  return parsed?.aiSdk === provider ? parsed.metadata : undefined;
}
