import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveTemporalBinary, TEMPORAL_CLI_VERSION } from '../../../src/worker/temporal/binary.js';
import { makeStateDir } from '../support/state-dir.js';

let folder = '';

beforeEach(async () => {
  folder = await makeStateDir();
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('resolveTemporalBinary: PERDURE_TEMPORAL_BIN goes first, then PATH, then the cache', async () => {
  const named = await makeExecutable(join(folder, 'named'));
  const onPath = await makeExecutable(join(folder, 'bin', 'temporal'));
  const cached = await makeExecutable(join(folder, 'cache', 'perdure', 'temporal', TEMPORAL_CLI_VERSION, 'temporal'));
  const env = { PERDURE_TEMPORAL_BIN: named, PATH: dirname(onPath), XDG_CACHE_HOME: join(folder, 'cache') };
  expect(await resolve(env)).toBe(named);
  expect(await resolve({ ...env, PERDURE_TEMPORAL_BIN: '' })).toBe(onPath);
  expect(await resolve({ ...env, PERDURE_TEMPORAL_BIN: '', PATH: '/nowhere' })).toBe(cached);
});

test('resolveTemporalBinary: a folder named temporal on PATH is not a binary', async () => {
  await mkdir(join(folder, 'bin', 'temporal'), { recursive: true });
  const cached = await makeExecutable(join(folder, 'cache', 'perdure', 'temporal', TEMPORAL_CLI_VERSION, 'temporal'));
  expect(await resolve({ PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache') })).toBe(cached);
});

test('resolveTemporalBinary: a PERDURE_TEMPORAL_BIN that is not there is an error, not passed over', async () => {
  await expect(resolve({ PERDURE_TEMPORAL_BIN: join(folder, 'absent') })).rejects.toMatchObject({ code: 'TEMPORAL_BINARY', exitCode: 2 });
});

async function makeExecutable(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '#!/bin/sh\n');
  await chmod(path, 0o755);
  return path;
}

async function resolve(env: NodeJS.ProcessEnv): Promise<string> {
  return resolveTemporalBinary({ say: () => {}, env });
}
