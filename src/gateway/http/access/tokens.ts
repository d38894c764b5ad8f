import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { checkSearched } from '../../../client/validate/run-input.js';
import { Right } from '../../../contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { bearerOf, type Caller, type Callers } from './caller.js';

/** One token of a token file: its hash, whose it is, and what it allows. */
export const TokenEntry = z.strictObject({
  /** SHA-256 of the token, as 64 hexadecimal digits. */
  tokenSha256: z.string().regex(/^[0-9a-f]{64}$/iu, 'is not 64 hexadecimal digits'),
  /** The tenant whose runs it starts and sees. @default none: all runs */
  tenant: z.string().min(1).optional(),
  /** What it allows. */
  rights: z.array(Right).min(1),
});
export type TokenEntry = z.infer<typeof TokenEntry>;

const TokenFile = z.array(TokenEntry).min(1).max(HTTP_LIMITS.tokensMax);

/** Reads the text of a token file. `path` is its name in errors. Throws PerdureError `BAD_TOKENS` (2). */
export function parseTokens(text: string, path: string): readonly TokenEntry[] {
  const parsed = TokenFile.safeParse(parseJson(text, path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw badTokens(path, `${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'not valid'}`);
  }
  const entries = parsed.data.map((entry) => ({ ...entry, tokenSha256: entry.tokenSha256.toLowerCase() }));
  for (const { tenant } of entries) if (tenant !== undefined) checkTenant(tenant, path);
  if (new Set(entries.map(({ tokenSha256 }) => tokenSha256)).size < entries.length) throw badTokens(path, 'a token is listed twice');
  return entries;
}

/** The only token of a gateway without a token file: it allows everything. */
export function ownerToken(token: string): readonly TokenEntry[] {
  return [{ tokenSha256: digest(token).toString('hex'), rights: [...Right.options] }];
}

/** Finds callers by the hashes of their tokens. */
export class Tokens implements Callers {
  readonly #known: readonly { readonly hash: Buffer; readonly caller: Caller }[];

  constructor(entries: readonly TokenEntry[]) {
    this.#known = entries.map(({ tokenSha256, tenant, rights }) => ({
      hash: Buffer.from(tokenSha256, 'hex'),
      caller: { key: tokenSha256, rights: new Set(rights), ...(tenant === undefined ? {} : { tenant }) },
    }));
  }

  /** The caller with this `Authorization` header. Undefined without a known token. Its time does not depend on the token. */
  callerOf(authorization: string | undefined): Caller | undefined {
    const given = digest(bearerOf(authorization) ?? '');
    let found: Caller | undefined;
    for (const { hash, caller } of this.#known) if (timingSafeEqual(hash, given)) found = caller;
    return found;
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badTokens(path, 'is not JSON', cause);
  }
}

function checkTenant(tenant: string, path: string): void {
  try {
    checkSearched('tenant', tenant);
  } catch (cause) {
    if (!(cause instanceof PerdureError)) throw cause;
    throw badTokens(path, cause.message, cause);
  }
}

function badTokens(path: string, problem: string, cause?: unknown): PerdureError {
  const form = '[{ "tokenSha256": "64 hex digits", "tenant"?: "name", "rights": ["run", "read", "steer", "approve"] }]';
  return new PerdureError('BAD_TOKENS', `${path}: ${problem}; expected ${form}`, 2, { cause });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
