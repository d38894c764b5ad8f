import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../../src/contracts/constants/search-attributes.js';
import { isPidProvedDead } from '../../../src/process/process-identity.js';
import { type DevServer, openDevServer } from '../../../src/worker/dev-server/dev-server.js';
import { type DevServerRecord, readDevServerRecord, writeDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { answersTemporal } from '../../../src/worker/temporal/probe.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { killLeftScripts, type Script, startScript } from '../support/script.js';
import { serversOn } from '../support/servers-on.js';
import { makeStateDir, removeStateDir, untilServerEnded } from '../support/state-dir.js';

let stateDir = '';
const opened: DevServer[] = [];

beforeEach(async () => {
  stateDir = await makeStateDir();
});

afterEach(async () => {
  await killLeftScripts();
  for (const server of opened.splice(0)) await server.close();
  await removeStateDir(stateDir);
});

test('openDevServer: ten processes at once on an empty folder share one server, and nothing is left when they have ended', async () => {
  const users = Array.from({ length: 10 }, () => startScript('server-user', [stateDir]));
  const servers = await Promise.all(users.map((user) => serverOf(user)));
  expect(new Set(servers.map(({ address }) => address)).size).toBe(1);
  expect(servers.filter(({ started }) => started)).toHaveLength(1);
  const record = await recordOf();
  expect(await answersTemporal(record.address, 20_000)).toBe(true);
  expect(await readdir(join(stateDir, 'users'))).toHaveLength(10);
  expect(await serversOn(stateDir)).toEqual([record.serverPid]);

  await Promise.all(users.map((user) => user.finish()));
  await untilServerEnded(stateDir);
  expect(await serversOn(stateDir)).toEqual([]);
  expect(await readdir(join(stateDir, 'users'))).toEqual([]);
  expect(await readdir(join(stateDir, 'server.lock'))).toEqual([]);
  expect(existsSync(join(stateDir, 'server.json'))).toBe(false);
});

test('openDevServer: no web page reaches the HTTP API, which answers a secret Host alone', async () => {
  const user = startScript('server-user', [stateDir]);
  await serverOf(user);
  const { httpPort, httpHost = '', namespace } = await recordOf();
  const start = { workflowType: { name: 'agentRun' }, taskQueue: { name: 'perdure' }, input: [{ task: 'x', workspace: '/' }] };
  const post = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const path = `/api/v1/namespaces/${namespace}/workflows/drive-by`;
      const headers = { host, 'content-type': 'text/plain', origin: 'https://example.com' };
      const sent = request({ host: '127.0.0.1', port: httpPort, method: 'POST', path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(start));
    });
  for (const host of [`127.0.0.1:${httpPort}`, `localhost:${httpPort}`, 'example.com', 'x.invalid'])
    expect([host, await post(host)]).toEqual([host, 403]);
  expect(await post(httpHost)).toBe(200);
  await user.finish();
});

test.runIf(hasOrSays(process.platform === 'linux', 'loopback network of 127.0.0.0/8'))(
  'openDevServer: the Web UI is not on 127.0.0.1, and keeps its address',
  async () => {
    const user = startScript('server-user', [stateDir]);
    await serverOf(user);
    const { uiUrl, serverPid } = await recordOf();
    const { hostname, port } = new URL(uiUrl);
    expect(hostname).toMatch(/^127\.(?!0\.0\.1$)/u);
    await vi.waitFor(async () => expect((await fetch(uiUrl)).status).toBe(200), { timeout: 30_000 });
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    // the keeper starts it again
    process.kill(serverPid, 'SIGKILL');
    await vi.waitFor(async () => expect((await recordOf()).serverPid).not.toBe(serverPid), { timeout: 60_000 });
    expect((await recordOf()).uiUrl).toBe(uiUrl);
    await user.finish();
  },
);

test('openDevServer: users killed with SIGKILL keep the server no longer than users that left', async () => {
  const users = Array.from({ length: 3 }, () => startScript('server-user', [stateDir]));
  await Promise.all(users.map((user) => serverOf(user)));
  await Promise.all(users.map((user) => user.kill()));
  await untilServerEnded(stateDir);
  expect(await readdir(join(stateDir, 'users'))).toEqual([]);
});

test('openDevServer: processes killed at any moment of a start never leave two servers', async () => {
  let most = 0;
  const looking = new AbortController();
  const looks = (async () => {
    while (!looking.signal.aborted) most = Math.max(most, (await serversOn(stateDir)).length);
  })();
  for (let round = 0; round < 8; round += 1) {
    const users = Array.from({ length: 2 }, () => startScript('server-user', [stateDir]));
    // the lock appears when a start begins: each round is killed a little later in it
    await vi.waitFor(async () => expect(await readdir(join(stateDir, 'users'))).not.toEqual([]), { timeout: 20_000, interval: 5 });
    await pause(round * 40);
    await Promise.all(users.map((user) => user.kill()));
  }
  const { address } = await open();
  looking.abort();
  await looks;
  expect(await answersTemporal(address, 20_000)).toBe(true);
  expect(most).toBe(1);
  expect(await serversOn(stateDir)).toEqual([(await recordOf()).serverPid]);
});

test('openDevServer: a process that starts the server and ends at once leaves a server that the next one adopts', async () => {
  const first = startScript('server-user', [stateDir, 'exit']);
  const { address } = await serverOf(first);
  await first.finish();
  const server = await open();
  expect(server).toMatchObject({ address, started: false });
});

test('openDevServer: is tuned, knows the search attributes and keeps closed runs for 90 days', async () => {
  const { address, namespace } = await open();
  const connection = await Connection.connect({ address });
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 60 * 60);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
  } finally {
    await connection.close();
  }
  // SQLite makes this file in WAL mode only
  expect(existsSync(join(stateDir, 'temporal.db-wal'))).toBe(true);
  expect(await readFile(join(stateDir, '.gitignore'), 'utf8')).toBe('*\n');
  const files = ['', 'temporal.db', 'temporal.db-wal', 'server.json', 'logs/server.log', 'logs/keeper.log'];
  const modes = await Promise.all(files.map(async (file) => [file, (await stat(join(stateDir, file))).mode & 0o077]));
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
});

test('openDevServer: a server killed with SIGKILL comes back on its address while it is used, with its runs', async () => {
  const { address } = await open();
  const before = await recordOf();
  const client = await connect(address);
  await client.workflow.start('waits', { taskQueue: 'nobody', workflowId: 'kept', args: [] });
  process.kill(before.serverPid, 'SIGKILL');
  await vi.waitFor(async () => expect((await recordOf()).serverPid).not.toBe(before.serverPid), { timeout: 20_000, interval: 50 });
  await vi.waitFor(async () => expect(await answersTemporal(address, 1_000)).toBe(true), { timeout: 20_000, interval: 50 });
  const { status } = await client.workflow.getHandle('kept').describe();
  expect(status.name).toBe('RUNNING');
  await client.connection.close();
  expect(await serversOn(stateDir)).toEqual([(await recordOf()).serverPid]);
});

test('openDevServer: the record of a dead server is replaced, and its address used again', async () => {
  const user = startScript('server-user', [stateDir]);
  const { address } = await serverOf(user);
  const record = await recordOf();
  // the keeper first, so that it cannot bring the server back
  for (const pid of [record.keeperPid, record.serverPid]) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(isPidProvedDead(record.serverPid, record.serverStart)).toBe(true), { timeout: 30_000 });
  expect(await open()).toMatchObject({ address, started: true });
});

test('openDevServer: a record left by an earlier boot or copied from elsewhere does not stop a start', async () => {
  await writeFile(join(stateDir, 'server.json'), 'not json');
  expect(await open()).toMatchObject({ started: true });
});

test('openDevServer: a pid given to another process is not taken for the server', async () => {
  const { address } = await open();
  const record = await recordOf();
  for (const pid of [record.keeperPid, record.serverPid]) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(isPidProvedDead(record.serverPid, record.serverStart)).toBe(true), { timeout: 30_000 });
  await writeDevServerRecord(stateDir, { ...record, serverPid: process.pid });
  expect(await open()).toMatchObject({ address, started: true });
});

test('openDevServer: a live server that does not answer is waited for, never joined by a second one', async () => {
  const { address } = await open();
  const record = await recordOf();
  process.kill(record.serverPid, 'SIGSTOP');
  const user = startScript('server-user', [stateDir]);
  try {
    await user.line(`say waiting for the Temporal server of this folder (process ${record.serverPid})`);
    expect(await serversOn(stateDir)).toEqual([record.serverPid]);
  } finally {
    process.kill(record.serverPid, 'SIGCONT');
  }
  expect(await serverOf(user)).toEqual({ address, started: false });
});

test('openDevServer: a keeper killed with SIGKILL is replaced by the next command, and the server still ends', async () => {
  const first = await open();
  const before = await recordOf();
  process.kill(before.keeperPid, 'SIGKILL');
  await vi.waitFor(() => expect(isPidProvedDead(before.keeperPid, before.keeperStart)).toBe(true), { timeout: 30_000 });
  expect(await open()).toMatchObject({ address: first.address, started: false });
  const after = await recordOf();
  expect(after.serverPid).toBe(before.serverPid);
  expect(after.keeperPid).not.toBe(before.keeperPid);
  for (const server of opened.splice(0)) await server.close();
  await untilServerEnded(stateDir);
});

test('openDevServer: a command that comes while the keeper stops the server ends with a working server', async () => {
  const first = await open();
  const record = await recordOf();
  await first.close();
  // the keeper has sent SIGTERM when the server no longer takes connections
  await vi.waitFor(async () => expect(await answersTemporal(record.address, 200)).toBe(false), { timeout: 20_000, interval: 5 });
  const next = await open();
  expect(await answersTemporal(next.address, 20_000)).toBe(true);
  expect(await serversOn(stateDir)).toEqual([(await recordOf()).serverPid]);
});

test('openDevServer: a binary that ends at once is an error with the last line of its log', async () => {
  vi.stubEnv('PERDURE_TEMPORAL_BIN', '/bin/false');
  try {
    await expect(openDevServer({ stateDir, say: () => {} })).rejects.toMatchObject({ code: 'TEMPORAL_SERVER', exitCode: 5 });
  } finally {
    vi.unstubAllEnvs();
  }
  expect(existsSync(join(stateDir, 'server.json'))).toBe(false);
  expect(await readdir(join(stateDir, 'users'))).toEqual([]);
});

async function open(): Promise<DevServer> {
  const server = await openDevServer({ stateDir, say: () => {} });
  opened.push(server);
  return server;
}

async function connect(address: string): Promise<Client & { connection: Connection }> {
  const connection = await Connection.connect({ address });
  return Object.assign(new Client({ connection }), { connection });
}

async function serverOf(user: Script): Promise<{ address: string; started: boolean }> {
  return JSON.parse(await user.line('server ', 40_000));
}

async function recordOf(): Promise<DevServerRecord> {
  const record = await readDevServerRecord(stateDir);
  if (!record) throw new Error('no server.json');
  return record;
}
