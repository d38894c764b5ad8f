import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Right } from '../../../../src/contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../../../src/contracts/constants/limits.js';
import type { TokenEntry } from '../../../../src/gateway/http/access/tokens.js';
import { ROUTES } from '../../../../src/gateway/http/routes/routes.js';
import { say } from '../../../support/agent-worker.js';
import { latch, until } from '../../../support/use-workers.js';
import { rawAsk } from '../support/gateway-client.js';
import { TOKEN, useGateways } from '../support/use-gateways.js';

const gateways = useGateways();

const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };
const JSON_BODY = { ...AUTHORIZATION, 'content-type': 'application/json' };

function entry(token: string, rights: readonly Right[] = Right.options, tenant?: string): TokenEntry {
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  return { tokenSha256, rights: [...rights], ...(tenant === undefined ? {} : { tenant }) };
}

/** A path of the route with ids that nothing has. */
function pathOf(path: string): string {
  return path.replaceAll(/\{\w+\}/gu, 'nothing');
}

describe('what the gateway refuses', () => {
  it('X14: a request without the token, with another one, with one in the address, or in another scheme', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway();
    for (const { method, path, right } of ROUTES) {
      const { status } = await rawAsk(url, { method, path: pathOf(path) });
      expect([method, path, status], 'without a token').toEqual([method, path, right === 'none' ? 200 : 401]);
    }
    const get = (headers: Record<string, string>, path = '/v1/runs') => rawAsk(url, { method: 'GET', path, headers });
    expect(await get({ authorization: `Bearer ${TOKEN}x` })).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    expect(await get({ authorization: `Basic ${TOKEN}` })).toMatchObject({ status: 401 });
    expect(await get({ authorization: `Bearer ${'x'.repeat(5_000)}` })).toMatchObject({ status: 401 });
    expect(await get({}, `/v1/runs?token=${TOKEN}`)).toEqual({ status: 400, code: 'TOKEN_IN_QUERY' });
    expect(await get(AUTHORIZATION, '/v1/runs?access_token=x')).toEqual({ status: 400, code: 'TOKEN_IN_QUERY' });
    expect(await get(AUTHORIZATION)).toMatchObject({ status: 200 });
  });

  it('a web page of another site, also under a name that resolves to this machine', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway();
    const { host } = new URL(url);
    const ask = (headers: Record<string, string>) =>
      rawAsk(url, { path: '/v1/runs', headers: { ...JSON_BODY, ...headers }, body: '{"task":"do it"}' });
    expect(await ask({ host: 'attacker.example' })).toEqual({ status: 403, code: 'BAD_HOST' });
    expect(await ask({ origin: 'https://attacker.example' })).toEqual({ status: 403, code: 'BAD_ORIGIN' });
    expect(await ask({ origin: 'null' })).toEqual({ status: 403, code: 'BAD_ORIGIN' });
    expect(await ask({ 'sec-fetch-site': 'cross-site' })).toEqual({ status: 403, code: 'BAD_ORIGIN' });
    expect(await ask({ origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 201 });
  });

  it('B16: a body that is no JSON, no UTF-8, too large, too deep, or of another type', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway();
    const post = (body: string | Uint8Array, headers: Record<string, string> = JSON_BODY) =>
      rawAsk(url, { path: '/v1/runs', headers, body });
    expect(await post('{"task":')).toEqual({ status: 400, code: 'BAD_BODY' });
    expect(await post(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))).toEqual({ status: 400, code: 'BAD_BODY' });
    expect(await post('{"task":"x"}', { ...AUTHORIZATION, 'content-type': 'text/plain' })).toEqual({
      status: 415,
      code: 'BAD_CONTENT_TYPE',
    });
    expect(await post('{"task":"x"}', { ...AUTHORIZATION, 'content-type': 'application/json; charset=latin1' })).toMatchObject({
      status: 415,
    });
    expect(await post('x'.repeat(HTTP_LIMITS.bodyBytesMax + 1))).toEqual({ status: 413, code: 'BODY_TOO_LARGE' });
    expect(await post(JSON.stringify({ task: 'x'.repeat(1024 * 1024 + 1) }))).toEqual({ status: 413, code: 'MESSAGE_TOO_LARGE' });
    expect(await post(`{"task":"x","outputSchema":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_001)}`)).toEqual({
      status: 422,
      code: 'BAD_OPTION',
    });
    expect(await post('"text"')).toEqual({ status: 422, code: 'BAD_OPTION' });
    expect(await post('{"__proto__":{"task":"x"},"task":"x"}')).toEqual({ status: 422, code: 'UNKNOWN_OPTION' });
    expect(await post('{}')).toEqual({ status: 422, code: 'BAD_OPTION' });
    expect(await post('{"task":" "}')).toEqual({ status: 422, code: 'EMPTY_MESSAGE' });
  });

  it('B16: headers that are too large, and a request that is no HTTP, in the form of every error', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url, client } = await place.gateway();
    const path = `/v1/runs?cursor=${'x'.repeat(HTTP_LIMITS.headerBytesMax)}`;
    expect(await rawAsk(url, { method: 'GET', path, headers: AUTHORIZATION })).toEqual({ status: 431, code: 'HEADERS_TOO_LARGE' });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write('no http\r\n\r\n');
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\n\r\n\{"error":\{"code":"BAD_REQUEST","message":"[^"]+"\}\}\n$/su);
    expect(await client.ask('/v1/runs?limit=1')).toMatchObject({ status: 200 });
  });

  it('an unknown field or a wrong value, with the right word; a path and a route that do not exist', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { client, url } = await place.gateway();
    const message = async (path: string, body?: unknown) => {
      const answer = await client.ask(path, body === undefined ? {} : { body });
      return [answer.status, (answer.body['error'] as { message: string }).message];
    };
    expect(await message('/v1/runs', { task: 'x', maxTurn: 3 })).toEqual([422, 'maxTurn (did you mean maxTurns?)']);
    for (const field of ['auth', 'bounds', 'inherits', 'parent'])
      expect(await message('/v1/runs', { task: 'x', [field]: {} })).toEqual([422, field]);
    expect(await message('/v1/runs?limits=3')).toEqual([422, 'limits (did you mean limit?)']);
    expect(await message('/v1/runs?limit=1e9')).toEqual([422, expect.stringMatching(/^limit: /u)]);
    expect(await message('/v1/runs?status=great')).toEqual([422, expect.stringMatching(/^status: /u)]);
    expect(await message('/v1/elsewhere')).toEqual([404, 'no such route; see /openapi.json']);
    expect(await message('/v1/runs', { task: 'x', context: { host: 'other' } })).toEqual([403, expect.stringContaining('context.host')]);
    const key = await client.ask('/v1/runs', { body: { task: 'x' }, headers: { 'idempotency-key': 'a b' } });
    expect(key).toMatchObject({ status: 400, body: { error: { code: 'BAD_IDEMPOTENCY_KEY' } } });
    expect(await rawAsk(url, { method: 'GET', path: '/v1/runs/%ff', headers: AUTHORIZATION })).toEqual({ status: 400, code: 'BAD_URL' });
    expect(await rawAsk(url, { method: 'PUT', path: '/v1/runs', headers: AUTHORIZATION })).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await rawAsk(url, { method: 'QUERY', path: '/v1/runs', headers: AUTHORIZATION })).toEqual({ status: 400, code: 'BAD_REQUEST' });
    const { headers } = await client.ask('/v1/runs');
    expect(Object.fromEntries(headers)).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });

  it('a right that the token does not have, for every route', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway({ entries: Right.options.map((right) => entry(`only-${right}`, [right])) });
    for (const { method, path, right } of ROUTES.filter((route) => route.right !== 'none')) {
      for (const other of Right.options.filter((each) => each !== right)) {
        const headers = { authorization: `Bearer only-${other}` };
        expect([method, path, other, await rawAsk(url, { method, path: pathOf(path), headers })]).toEqual([
          method,
          path,
          other,
          { status: 403, code: 'FORBIDDEN' },
        ]);
      }
    }
  });

  it('more requests than the limit of its token: 429 with Retry-After, and other tokens go on', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { as } = await place.gateway({ entries: [entry('a'), entry('b')], requestsPerMinute: 3 });
    const answers = await Promise.all(Array.from({ length: 5 }, () => as('a').ask('/v1/runs?limit=1')));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '200', '200', '429', '429']);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ error: { code: 'TOO_MANY_REQUESTS' } });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await as('b').ask('/v1/runs?limit=1')).toMatchObject({ status: 200 });
  });

  it('slowloris: headers or a body that never end close the connection', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url, client } = await place.gateway({ timeouts: { headersMs: 500, requestMs: 1_000 } });
    const beginnings = [
      'POST /v1/runs HTTP/1.1\r\nhost: localhost\r\nx-slow: ',
      `POST /v1/runs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"ta`,
    ];
    const closed = beginnings.map(async (text) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(text);
      await once(socket, 'close');
    });
    await Promise.all(closed);
    expect(await client.ask('/v1/runs?limit=1')).toMatchObject({ status: 200 });
  });

  it('requests before the first worker answers: /readyz is 503, and so are they', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { client } = await place.gateway({ isStarting: true });
    expect(await client.ask('/readyz')).toMatchObject({ status: 503 });
    expect(await client.ask('/healthz')).toMatchObject({ status: 200 });
    expect(await client.ask('/v1/runs')).toMatchObject({ status: 503, body: { error: { code: 'STARTING' } } });
  });
});

/** Bodies of the routes that need one, by the ends of their paths. */
const BODIES = { '/messages': '{"text":"x"}', '/approvals/{callId}': '{"decision":"approve"}', '/questions/{callId}': '{"answer":"x"}' };

describe('tenants', () => {
  it('X21: see only their runs: 1,000 foreign ids, on every route, are the same 404 as ids that nothing has', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const entries = [entry('acme', Right.options, 'acme'), entry('other', Right.options, 'other'), entry('admin')];
    const { as, url } = await place.gateway({ entries });
    const own = await as('acme').start();
    await as('acme').events(own);
    const routes = ROUTES.filter(({ path }) => path.startsWith('/v1/runs/{id}'));
    // each route gets both
    const ids = Array.from({ length: 1_000 }, (_, index) => (Math.floor(index / routes.length) % 2 === 0 ? own : `run-${index}`));
    const seen = new Set<string>();
    for (const [index, id] of ids.entries()) {
      const { method, path } = routes[index % routes.length] ?? { method: 'GET', path: '/v1/runs/{id}' };
      const target = path.replace('{id}', id).replace('{callId}', 'call');
      const body = Object.entries(BODIES).find(([end]) => path.endsWith(end))?.[1] ?? '';
      const headers = { authorization: 'Bearer other', ...(body === '' ? {} : { 'content-type': 'application/json' }) };
      const answer = await rawAsk(url, { method, path: target, headers, body });
      seen.add(JSON.stringify(answer));
    }
    expect([...seen]).toEqual([JSON.stringify({ status: 404, code: 'RUN_NOT_FOUND' })]);
    const foreign = await as('other').ask(`/v1/runs/${own}`);
    expect(foreign.body).toEqual({ error: { code: 'RUN_NOT_FOUND', message: `no run "${own}"` } });
    expect(await as('acme').ask(`/v1/runs/${own}`)).toMatchObject({ status: 200, body: { run: { tenant: 'acme' } } });
    expect(await as('admin').ask(`/v1/runs/${own}`)).toMatchObject({ status: 200 });
    expect((await as('other').ask('/v1/runs')).body).toEqual({ runs: [] });
  });

  it('see a run that a client of another language started for them once it is prepared', async () => {
    const held = latch();
    const place = await gateways.place({ model: () => say('done'), beforePrepare: () => held.opened });
    const { as } = await place.gateway({ entries: [entry('acme', Right.options, 'acme')] });
    const runId = await place.startBare({ tenant: 'acme' });
    expect(await as('acme').ask(`/v1/runs/${runId}/transcript`)).toMatchObject({ status: 404 });
    held.open();
    await until(async () => (await as('acme').ask(`/v1/runs/${runId}/transcript`)).status === 200, 'the run is seen');
  });

  it('cannot start a run of another tenant, name a folder of the host, or take the key of another tenant', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { as } = await place.gateway({ entries: [entry('acme', Right.options, 'acme'), entry('other', Right.options, 'other')] });
    const start = (token: string, input: object, key = 'k1') =>
      as(token).ask('/v1/runs', { body: { task: 'do it', ...input }, headers: { 'idempotency-key': key } });
    expect(await start('acme', { tenant: 'other' })).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN_TENANT' } } });
    const workspace = await start('acme', { context: { workspace: '/' } });
    expect(workspace).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN_WORKSPACE' } } });
    const first = await start('acme', { tenant: 'acme' });
    const second = await start('other', {});
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body['runId']).not.toBe(second.body['runId']);
  });
});
