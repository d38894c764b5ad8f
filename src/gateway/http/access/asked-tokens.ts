import { checkSearched } from '../../../client/validate/run-input.js';
import { type TokenFunction, TokenGrant } from '../../../contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { MINUTE_MS } from '../../../contracts/constants/units.js';
import { redact } from '../../../contracts/text/redact.js';
import { SecretMask } from '../../../contracts/text/secret-mask.js';
import { bearerOf, type Caller, type Callers } from './caller.js';
import { HttpError } from './http-error.js';

/** Finds callers by the function of the config. */
export class AskedTokens implements Callers {
  readonly #ask: TokenFunction;
  readonly #report: (problem: string) => void;
  /** The calls of the function at this moment, by token: equal tokens share one. */
  readonly #running = new Map<string, Promise<TokenGrant | undefined>>();
  #reportedAt = Number.NEGATIVE_INFINITY;
  #unreported = 0;

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
      const grant = await (this.#running.get(token) ?? this.#begin(token));
      return grant && callerWith(grant);
    } catch (error) {
      this.#tell(() => problemOf(error, token));
      const text = 'the gateway cannot check tokens now; try again';
      // a sender of many requests has to connect anew for each of them
      throw new HttpError(503, 'TOKENS_UNAVAILABLE', text, { 'retry-after': '1', connection: 'close' });
    }
  }

  async #begin(token: string): Promise<TokenGrant | undefined> {
    // nobody has shown a token that counts yet: without a bound, senders of nonsense would fill the memory
    if (this.#running.size >= HTTP_LIMITS.tokenCallsMax) throw new Error(`${this.#running.size} tokens are being checked at this moment`);
    const call = this.#grantOf(token);
    this.#running.set(token, call);
    try {
      return await call;
    } finally {
      this.#running.delete(token);
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
      const answer: unknown = await Promise.race([this.#ask(token, { signal: limit.signal }), late]);
      // JavaScript has two ways to say that there is none
      return answer === undefined || answer === null ? undefined : read(answer);
    } finally {
      clearTimeout(timer);
    }
  }

  #tell(problem: () => string): void {
    const now = Date.now();
    if (now - this.#reportedAt < MINUTE_MS) {
      this.#unreported += 1;
      return;
    }
    const more = this.#unreported === 0 ? '' : ` (and ${this.#unreported} more before)`;
    this.#reportedAt = now;
    this.#unreported = 0;
    this.#report(problem() + more);
  }
}

const PROBLEM_CHARS_MAX = 1_000;
const CAUSES_MAX = 4;

/** What went wrong, with its causes and without the token. */
function problemOf(error: unknown, token: string): string {
  const texts: string[] = [];
  for (let each = error; each instanceof Error && texts.length < CAUSES_MAX; each = each.cause) texts.push(`${each.name}: ${each.message}`);
  const text = texts.join('; caused by ').slice(0, PROBLEM_CHARS_MAX);
  const known = [{ name: 'token', value: token }];
  return redact(new SecretMask(() => known).text(text)) || 'it threw a value that is no error';
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
