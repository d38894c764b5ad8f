import { checkSearched } from '../../../client/validate/run-input.js';
import { type TokenFunction, TokenGrant } from '../../../contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { MINUTE_MS } from '../../../contracts/constants/units.js';
import { redact } from '../../../contracts/text/redact.js';
import { bearerOf, type Caller, type Callers } from './caller.js';
import { HttpError } from './http-error.js';

/** Finds callers by the function of the config. */
export class AskedTokens implements Callers {
  readonly #ask: TokenFunction;
  readonly #report: (problem: string) => void;
  #reportedAt = Number.NEGATIVE_INFINITY;

  /** `report`: called with why the function did not answer, at most once a minute. */
  constructor(ask: TokenFunction, report: (problem: string) => void) {
    this.#ask = ask;
    this.#report = report;
  }

  /** Throws HttpError 503 if the function gives no answer that can be used. */
  async callerOf(authorization: string | undefined): Promise<Caller | undefined> {
    const token = bearerOf(authorization);
    if (token === undefined) return undefined;
    try {
      const grant = await this.#grantOf(token);
      return grant && callerWith(grant);
    } catch (error) {
      this.#tell(redact(String(error).replaceAll(token, '[token]')));
      const text = 'the gateway cannot check tokens now; try again';
      throw new HttpError(503, 'TOKENS_UNAVAILABLE', text, { 'retry-after': '1' });
    }
  }

  async #grantOf(token: string): Promise<TokenGrant | undefined> {
    const limit = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`no answer within ${HTTP_LIMITS.tokenFunctionMs} ms`));
        limit.abort();
      }, HTTP_LIMITS.tokenFunctionMs);
    });
    try {
      const answer = await Promise.race([this.#ask(token, { signal: limit.signal }), late]);
      return answer === undefined ? undefined : read(answer);
    } finally {
      clearTimeout(timer);
    }
  }

  #tell(problem: string): void {
    const now = Date.now();
    if (now - this.#reportedAt < MINUTE_MS) return;
    this.#reportedAt = now;
    this.#report(problem);
  }
}

function read(answer: unknown): TokenGrant {
  const { success, data, error } = TokenGrant.safeParse(answer);
  if (success) {
    // a client without a tenant sees all runs: a tenant that is not known must not make it one
    if ('tenant' in data) checkSearched('tenant', data.tenant ?? '');
    return data;
  }
  const [issue] = error.issues;
  throw new Error(
    `its answer is not { name, tenant?, rights }: ${issue?.path.join('.') || 'the answer'}: ${issue?.message ?? 'not valid'}`,
  );
}

function callerWith({ name, tenant, rights }: TokenGrant): Caller {
  const key = JSON.stringify([tenant ?? null, name]);
  return { key, rights: new Set(rights), ...(tenant === undefined ? {} : { tenant }) };
}
