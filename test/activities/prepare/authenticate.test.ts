import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthenticate, forgetOldSignatures } from '../../../src/activities/prepare/authenticate.js';
import { AUTH_LIMITS } from '../../../src/contracts/constants/limits.js';
import { type SignedRequest, signRequest } from '../../../src/contracts/signature.js';

const KEY = Buffer.alloc(32, 7);
const REQUEST: SignedRequest = { verb: 'extend', runId: 'r1', input: { turns: 3 } };

async function check() {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-signatures-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const authenticate = createAuthenticate({ key: KEY, folder });
  return {
    folder,
    check: (auth: unknown, request = REQUEST, use = 'extend r1 u1', sentAt = Date.now()) => authenticate({ ...request, auth, use }, sentAt),
  };
}

describe('a signature', () => {
  test('of the owner counts for its request, however often the activity is tried', async () => {
    const { check: of } = await check();
    const auth = signRequest(KEY, REQUEST, Date.now());
    expect(await of(auth)).toBeUndefined();
    expect(await of(auth)).toBeUndefined();
    expect(await of(auth, REQUEST, 'extend r1 u2')).toMatch(/^UNSIGNED: an extension has a signature that was used before/u);
  });

  test('does not depend on the order of fields, nor on a signature in the input', async () => {
    const { check: of } = await check();
    const auth = signRequest(KEY, { ...REQUEST, input: { turns: 3, costUsd: 1, tokens: undefined } }, Date.now());
    expect(await of(auth, { ...REQUEST, input: { auth, costUsd: 1, turns: 3 } })).toBeUndefined();
  });

  test.each<[what: string, request: SignedRequest]>([
    ['another input', { ...REQUEST, input: { turns: 4 } }],
    ['another run', { ...REQUEST, runId: 'r2' }],
    ['another verb', { ...REQUEST, verb: 'approve' }],
  ])('does not count for %s', async (_what, request) => {
    const { check: of } = await check();
    expect(await of(signRequest(KEY, REQUEST, Date.now()), request)).toMatch(
      /^UNSIGNED: .* of another key, run or input; .* 'perdure sign'/u,
    );
  });

  test('of another key, of another form, or none does not count', async () => {
    const { check: of, folder } = await check();
    const good = signRequest(KEY, REQUEST, Date.now());
    expect(await of(signRequest(Buffer.alloc(32, 8), REQUEST, Date.now()))).toContain('of another key');
    for (const bad of [undefined, '', 7, {}, good.slice(0, -1), good.toUpperCase(), `${good}0`, good.replace('v1', 'v2')]) {
      expect(await of(bad)).toMatch(/^UNSIGNED: an extension has no signature/u);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test('counts within five minutes of its request, also if the request is looked at days later', async () => {
    const { check: of } = await check();
    const at = Date.now() - 3 * 86_400_000;
    const auth = signRequest(KEY, REQUEST, at);
    expect(await of(auth)).toMatch(/^UNSIGNED: .* made more than 5 minutes before/u);
    expect(await of(auth, REQUEST, 'extend r1 u1', at + AUTH_LIMITS.validMs)).toBeUndefined();
    const old = Date.now() - AUTH_LIMITS.rememberedMs - 1;
    expect(await of(signRequest(KEY, REQUEST, old), REQUEST, 'x', old)).toMatch(/^UNSIGNED: .* expired/u);
  });

  test('is remembered longer than it counts, in a file that only the owner reads', async () => {
    const { check: of, folder } = await check();
    await of(signRequest(KEY, REQUEST, Date.now()));
    const [name = ''] = await readdir(folder);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    await forgetOldSignatures(folder);
    expect(await readdir(folder)).toEqual([name]);
    const old = new Date(Date.now() - 3 * AUTH_LIMITS.rememberedMs);
    await utimes(join(folder, name), old, old);
    await forgetOldSignatures(folder);
    expect(await readdir(folder)).toEqual([]);
  });
});
