import { z } from 'zod';

/** What a token allows: `run` starts runs, `read` is every GET, `steer` controls runs, `approve` decides about calls. */
export const Right = z.enum(['run', 'read', 'steer', 'approve']);
export type Right = z.infer<typeof Right>;

/** Whose a token is, and what it allows. */
export const TokenGrant = z.strictObject({
  /** Who the client is. Its limits of requests and streams count over all its tokens. */
  name: z.string().min(1).max(200),
  /** The tenant whose runs it starts and sees. `undefined` is refused: leave the field out. @default none: all runs */
  tenant: z.string().min(1).optional(),
  /** What it allows. */
  rights: z.array(Right).min(1),
});
export type TokenGrant = z.infer<typeof TokenGrant>;

/**
 * A function that the gateway asks for each request who the client is. `token`: what follows `Bearer` in the header, 1 to 8,000 visible
 * ASCII characters. Returns undefined for a token that it does not know: the client gets 401.
 *
 * Contract: it keeps its own cache, if it needs one. If it throws, returns anything else, or takes longer than 5 s, the client gets 503
 * `TOKENS_UNAVAILABLE`. Its error is in the log of the gateway, without the token. `signal` aborts at the time limit.
 */
export type TokenFunction = (
  token: string,
  context: { readonly signal: AbortSignal },
) => TokenGrant | undefined | Promise<TokenGrant | undefined>;
