import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type LocateOptions, locateTemporal, type TemporalLocation } from '../../../src/worker/connect/locate-temporal.js';
import { openDevServer } from '../../../src/worker/dev-server/dev-server.js';
import { readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { makeStateDir, removeStateDir } from '../support/state-dir.js';

const running = inject('temporalAddress');
let stateDir = '';
const located: TemporalLocation[] = [];

beforeEach(async () => {
  stateDir = await makeStateDir();
});

afterEach(async () => {
  for (const location of located.splice(0)) await location.close();
  await removeStateDir(stateDir);
});

test('locateTemporal: a flag goes before the variables', async () => {
  const location = await locate({ address: running, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
  expect(location).toMatchObject({ kind: 'configured', address: running, namespace: 'default', connectionOptions: { address: running } });
  expect(await readDevServerRecord(stateDir)).toBeUndefined();
});

test('A14: PERDURE_UI_URL names the Web UI of a server with an address', async () => {
  const env = { TEMPORAL_ADDRESS: running, PERDURE_UI_URL: 'https://temporal.example.com/ui/' };
  expect(await locate({ env })).toMatchObject({ kind: 'configured', uiUrl: 'https://temporal.example.com/ui' });
  expect(await locate({ env: { ...env, PERDURE_UI_URL: '' } })).not.toHaveProperty('uiUrl');
  for (const bad of ['temporal.example.com', 'ftp://x', 'https://user:pass@x/', 'not a url']) {
    await expect(locate({ env: { ...env, PERDURE_UI_URL: bad } })).rejects.toMatchObject({ code: 'PERDURE_UI_URL', exitCode: 2 });
  }
});

test('locateTemporal: TEMPORAL_ADDRESS goes before the live server of the folder', async () => {
  const own = await openDevServer({ stateDir, say: () => {} });
  expect(await locate({ env: { TEMPORAL_ADDRESS: running } })).toMatchObject({ kind: 'configured', address: running });
  expect(await locate({ env: { TEMPORAL_ADDRESS: '' } })).toMatchObject({ kind: 'embedded', address: own.address, uiUrl: own.uiUrl });
  await own.close();
});

test('locateTemporal: takes address, key and metadata from a profile of temporal.toml', async () => {
  const file = join(stateDir, 'temporal.toml');
  await writeFile(
    file,
    `[profile.default]\naddress = "${running}"\n[profile.default.tls]\ndisabled = true\n[profile.default.grpc_meta]\nteam = "red"\n`,
  );
  const { connectionOptions } = await locate({ env: { TEMPORAL_CONFIG_FILE: file } });
  expect(connectionOptions).toMatchObject({ address: running, tls: false, metadata: { team: 'red' } });
});

test('locateTemporal: with nothing configured the folder gets a server of its own', async () => {
  const location = await locate({});
  expect(location).toMatchObject({ kind: 'embedded', namespace: 'default' });
  expect((await readDevServerRecord(stateDir))?.address).toBe(location.address);
});

test('locateTemporal: with nothing configured and no embedded server allowed it says what to set', async () => {
  await expect(locate({ allowEmbedded: false })).rejects.toMatchObject({ code: 'TEMPORAL_ADDRESS', exitCode: 2 });
});

test.each(['http://localhost:7233', '', 'localhost', 'localhost:0', 'localhost:70000', '::1:7233', 'a b:7233'])(
  'locateTemporal: the address %j is refused by its form',
  async (address) => {
    await expect(locate({ address })).rejects.toMatchObject({
      code: 'TEMPORAL_ADDRESS',
      exitCode: 2,
      message: expect.stringContaining('host:port'),
    });
  },
);

test('locateTemporal: a port nobody listens on is unreachable at once', async () => {
  const since = Date.now();
  await expect(locate({ address: '127.0.0.1:1' })).rejects.toMatchObject({
    code: 'TEMPORAL_UNREACHABLE',
    exitCode: 5,
    message: expect.stringMatching(/^127\.0\.0\.1:1 \(tls=off\)/u),
  });
  expect(Date.now() - since).toBeLessThan(20_000);
});

test('locateTemporal: a peer that never answers is unreachable within 5 s', async () => {
  const silent = createServer((socket) => socket.resume());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const since = Date.now();
  await expect(locate({ address: `127.0.0.1:${portOf(silent)}` })).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE', exitCode: 5 });
  expect(Date.now() - since).toBeLessThan(20_000);
  silent.close();
});

test('locateTemporal: TLS to a server without it is unreachable, and says that TLS is on', async () => {
  await expect(
    locate({ env: { TEMPORAL_ADDRESS: running.replace('127.0.0.1', 'localhost'), TEMPORAL_TLS: 'true' } }),
  ).rejects.toMatchObject({
    code: 'TEMPORAL_UNREACHABLE',
    message: expect.stringContaining('(tls=on)'),
  });
});

test('locateTemporal: an unknown namespace is not found', async () => {
  await expect(locate({ address: running, namespace: 'nowhere' })).rejects.toMatchObject({
    code: 'NAMESPACE_NOT_FOUND',
    exitCode: 3,
    message: expect.stringContaining('nowhere'),
  });
});

test('locateTemporal: a namespace that the embedded server lacks is not found, and the server is let go', async () => {
  await expect(locate({ namespace: 'nowhere' })).rejects.toMatchObject({ code: 'NAMESPACE_NOT_FOUND', exitCode: 3 });
});

test('locateTemporal: a broken temporal.toml is an error of the configuration', async () => {
  const file = join(stateDir, 'temporal.toml');
  await writeFile(file, '[profile.default\naddress=');
  await expect(locate({ env: { TEMPORAL_CONFIG_FILE: file } })).rejects.toMatchObject({ code: 'TEMPORAL_CONFIG', exitCode: 2 });
});

async function locate(options: Partial<LocateOptions>): Promise<TemporalLocation> {
  // no home folder: the profile of whoever runs the tests must not count
  const env = { HOME: stateDir, ...options.env };
  const location = await locateTemporal({ stateDir, taskQueue: 'nobody-polls-this', say: () => {}, ...options, env });
  located.push(location);
  return location;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
