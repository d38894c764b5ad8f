import { z } from 'zod';
import type { TokenFunction } from '../../contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../contracts/constants/limits.js';
import { readOrigin } from '../../contracts/text/origin.js';

/** Limits and clients of the HTTP gateway, `perdure serve`. */
export const GatewayDefinition = z.strictObject({
  /** Requests of each token in a minute; a burst may have the same number. @default 6,000 */
  requestsPerMinute: z.number().int().min(1).max(HTTP_LIMITS.requestsPerMinuteMax).optional(),
  /** Streams that each token may have open. @default 2,000 */
  streamsMax: z.number().int().min(1).max(HTTP_LIMITS.connectionsMax).optional(),
  /** Origin of the proxy in front of the gateway, such as `https://agents.example.com`. @default none */
  publicOrigin: z
    .string()
    .refine((text) => readOrigin(text) !== undefined, 'is not an origin such as https://agents.example.com')
    .optional(),
  /** Function that knows the tokens of clients: `(token, { signal }) => { name, tenant?, rights }`, or undefined. @default `--tokens`, or the token of the owner */
  tokens: z.custom<TokenFunction>((value) => typeof value === 'function', 'a function of the token').optional(),
});
export type GatewayDefinition = z.infer<typeof GatewayDefinition>;
