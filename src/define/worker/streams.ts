import { z } from 'zod';
import { REDIS_STREAM_LIMITS } from '../../contracts/constants/limits.js';

/** A Redis server for token streams, so that clients on other hosts can read them. It needs the package `redis`. */
export const StreamsDefinition = z.strictObject({
  /** Address of the server: a reference such as `env:REDIS_URL`, or `redis://host:6379` without a password. `rediss://` uses TLS. */
  url: z.string().min(1),
  /** Beginning of every key; the rest is the run ID. Give each Temporal namespace its own. @default `perdure:stream:` */
  keyPrefix: z.string().max(REDIS_STREAM_LIMITS.keyPrefixCharsMax).optional(),
  /** Time after the last token of a run at which its stream is deleted, in milliseconds. @default a day */
  ttlMs: z.number().int().min(REDIS_STREAM_LIMITS.ttlMsMin).max(REDIS_STREAM_LIMITS.ttlMsMax).optional(),
  /** Approximate number of entries to which a stream is trimmed. The oldest are removed first. @default 10,000 */
  entriesMax: z.number().int().min(REDIS_STREAM_LIMITS.entriesMaxMin).max(REDIS_STREAM_LIMITS.entriesMaxMax).optional(),
  /** Allows plain redis to another host, which sends tokens and the password unencrypted. @default false */
  allowInsecure: z.boolean().optional(),
});
export type StreamsDefinition = z.infer<typeof StreamsDefinition>;
