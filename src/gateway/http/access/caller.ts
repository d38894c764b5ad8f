import type { Right } from '../../../contracts/access/token-grant.js';

/** Who sent a request, by its token. */
export interface Caller {
  /** Identifies the token for its rate limit. No secret. */
  readonly key: string;
  /** The tenant whose runs the caller sees. Absent: all runs. */
  readonly tenant?: string;
  readonly rights: ReadonlySet<Right>;
}

/** Finds the caller of a request. */
export interface Callers {
  /** The caller with this `Authorization` header. Undefined without a known token. */
  callerOf(authorization: string | undefined): Caller | undefined | Promise<Caller | undefined>;
}

/** The token of an `Authorization` header; undefined without one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer (?<token>[\x21-\x7e]{1,8000})$/iu.exec(authorization ?? '')?.groups?.['token'];
}

/** The name of a caller in decisions, which other operators see. */
export function nameOf({ tenant }: Caller): string {
  return tenant === undefined ? 'http' : `http:${tenant}`;
}
