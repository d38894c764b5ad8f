import { describe, expect, it } from 'vitest';
import type { TokenFunction, TokenGrant } from '../../../../src/contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../../../src/contracts/constants/limits.js';
import { AskedTokens } from '../../../../src/gateway/http/access/asked-tokens.js';
import { RateLimit } from '../../../../src/gateway/http/access/rate-limit.js';
import { say } from '../../../support/agent-worker.js';
import { latch } from '../../../support/use-workers.js';
import { rawAsk } from '../support/gateway-client.js';
import { useGateways } from '../support/use-gateways.js';

const gateways = useGateways();

const GRANTS = new Map<string, TokenGrant>(
  Object.entries({
    owner: { name: 'ops', rights: ['run', 'read', 'steer', 'approve'] },
    acme: { name: 'shop', tenant: 'acme', rights: ['run', 'read'] },
    'acme-next': { name: 'shop', tenant: 'acme', rights: ['read'] },
    globex: { name: 'shop', tenant: 'globex', rights: ['read'] },
  }),
);

const ask: TokenFunction = async (token) => await Promise.resolve(GRANTS.get(token));

describe('tokens from a function of the config', () => {
  it('X14, X21: the function says whose a request is: its tenant, its rights, and nobody', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url, as } = await place.gateway({ ask });
    const request = (token: string, path: string, body?: string) =>
      rawAsk(url, {
        method: body === undefined ? 'GET' : 'POST',
        path,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body }),
      });
    const runId = await as('acme').start();
    expect(await request('acme', `/v1/runs/${runId}`)).toMatchObject({ status: 200 });
    expect(await request('owner', `/v1/runs/${runId}`)).toMatchObject({ status: 200 });
    expect(await request('globex', `/v1/runs/${runId}`)).toEqual({ status: 404, code: 'RUN_NOT_FOUND' });
    expect(await request('acme-next', '/v1/runs', '{"task":"a"}')).toEqual({ status: 403, code: 'FORBIDDEN' });
    for (const token of ['nobody', 'toString', 'x'.repeat(5_000)]) {
      expect(await request(token, '/v1/runs')).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    }
  });

  it('limits count by the name of a client, over all its tokens', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway({ ask, requestsPerMinute: 2 });
    const get = (token: string) => rawAsk(url, { method: 'GET', path: '/v1/runs', headers: { authorization: `Bearer ${token}` } });
    expect(await get('acme')).toMatchObject({ status: 200 });
    expect(await get('acme-next')).toMatchObject({ status: 200 });
    expect(await get('acme')).toEqual({ status: 429, code: 'TOO_MANY_REQUESTS' });
    expect(await get('globex')).toMatchObject({ status: 200 });
  });

  it.each<[string, TokenFunction, RegExp]>([
    ['throws', (token) => Promise.reject(new Error(`no user for ${token}`)), /no user for \[secret token\]/u],
    ['throws at once', () => JSON.parse('{'), /SyntaxError/u],
    [
      'throws with a cause',
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })),
      /caused by Error: ECONN/u,
    ],
    [
      'throws the token in another form',
      (token) => Promise.reject(new Error(Buffer.from(token).toString('base64'))),
      /Error: \[secret token/u,
    ],
    ['throws what is no error', () => Promise.reject(Object.create(null) as Error), /no error/u],
    ['answers with another shape', () => ({ user: 'x' }) as never, /is not \{ name, tenant\?, rights \}: name/u],
    ['answers with a tenant that no run can have', () => ({ name: 'x', tenant: "a'b", rights: ['read'] }), /tenant/u],
    ['does not know the tenant', () => ({ name: 'x', tenant: undefined, rights: ['read'] }), /tenant/u],
    ['answers true', () => true as never, /is not \{ name/u],
  ])('a function that %s: 503 without its error, which the log has once, without the token', async (_, broken, problem) => {
    const problems: string[] = [];
    const tokens = new AskedTokens(broken, (text) => problems.push(text));
    for (let n = 0; n < 3; n += 1) {
      const refusal = await Promise.resolve(tokens.callerOf('Bearer secret-1')).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ status: 503, code: 'TOKENS_UNAVAILABLE', message: 'the gateway cannot check tokens now; try again' });
    }
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
    expect(problems[0]).not.toContain('secret-1');
  });

  it('a function that never answers is asked to stop at its time limit: 503', async () => {
    let signal: AbortSignal | undefined;
    const tokens = new AskedTokens(
      (__, context) => {
        ({ signal } = context);
        return new Promise(() => undefined);
      },
      () => undefined,
    );
    await expect(tokens.callerOf('Bearer x')).rejects.toMatchObject({ status: 503 });
    expect([signal?.aborted, HTTP_LIMITS.tokenFunctionMs]).toEqual([true, 5_000]);
  });

  it('is asked once for equal tokens at the same time, and for a bounded number of others', async () => {
    const answers: (() => void)[] = [];
    const problems: string[] = [];
    const tokens = new AskedTokens(
      (token) =>
        new Promise((resolve) => {
          answers.push(() => resolve({ name: token, rights: ['read'] }));
        }),
      (text) => problems.push(text),
    );
    const all = Array.from({ length: HTTP_LIMITS.tokenCallsMax * 2 }, (__, n) =>
      tokens.callerOf(`Bearer t${n % HTTP_LIMITS.tokenCallsMax}`),
    );
    await expect(tokens.callerOf('Bearer one-more')).rejects.toMatchObject({ status: 503, headers: { connection: 'close' } });
    expect(answers).toHaveLength(HTTP_LIMITS.tokenCallsMax);
    for (const answer of answers.splice(0)) answer();
    expect(new Set((await Promise.all(all)).map((caller) => caller?.key)).size).toBe(HTTP_LIMITS.tokenCallsMax);
    const again = tokens.callerOf('Bearer t0');
    answers[0]?.();
    expect(await again).toMatchObject({ key: '[null,"t0"]' });
    expect(problems).toHaveLength(1);
  });

  it('a client whose token is being checked when the gateway ends is answered', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const asked = latch();
    const answered = latch();
    const slow: TokenFunction = async (token) => {
      asked.open();
      await answered.opened;
      return GRANTS.get(token);
    };
    const gateway = await place.gateway({ ask: slow });
    const answer = gateway.as('owner').ask('/v1/runs');
    await asked.opened;
    const stopped = gateway.stop();
    answered.open();
    expect(await answer).toMatchObject({ status: 200 });
    await stopped;
  });

  it('the limit of requests forgets clients that have not asked for a minute, and no others', () => {
    const limit = new RateLimit(2);
    expect([limit.take('a', 0), limit.take('a', 1)]).toEqual([undefined, undefined]);
    for (let n = 0; n < 10_000; n += 1) limit.take(`other ${n}`, 2);
    expect(limit.take('a', 3)).toBeGreaterThan(0);
    expect(limit.size).toBe(10_001);
    expect(limit.take('b', 60_002)).toBeUndefined();
    expect(limit.size).toBe(2);
    // a client that asks once a minute keeps its bucket
    expect([limit.take('b', 120_002), limit.take('b', 120_003), limit.size]).toEqual([undefined, undefined, 1]);
    expect(limit.take('b', 120_004)).toBeGreaterThan(0);
  });
});
