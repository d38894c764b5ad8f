import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { isPidProvedDead, OWN_PLACE, type ProcessIdentity, processIdentity } from '../../../src/process/process-identity.js';
import { type DevServer, openDevServer } from '../../../src/worker/dev-server/dev-server.js';
import { keepDevServer } from '../../../src/worker/dev-server/keep.js';
import { type DevServerRecord, readDevServerRecord, writeDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { namedProcess } from '../../../src/worker/dev-server/server-process.js';
import { answersTemporal } from '../../../src/worker/temporal/probe.js';
import { killLeftScripts, OWN_PID_NAMESPACE, type Script, startScript } from '../support/script.js';
import { serversOn } from '../support/servers-on.js';
import { makeStateDir, removeStateDir, untilServerEnded } from '../support/state-dir.js';

let stateDir = '';
const opened: DevServer[] = [];
const sleepers: ChildProcess[] = [];

beforeEach(async () => {
  stateDir = await makeStateDir();
});

afterEach(async () => {
  await killLeftScripts();
  for (const server of opened.splice(0)) await server.close();
  for (const sleeper of sleepers.splice(0)) sleeper.kill('SIGKILL');
  await removeStateDir(stateDir);
});

test('A7: openDevServer: without a keeper, a command in another pid namespace uses the running server, however old its record is', async () => {
  const { address } = await open();
  const record = await killKeeper();
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(join(stateDir, 'server.json'), longAgo, longAgo);
  const elsewhere = startScript('server-user', [stateDir], {}, OWN_PID_NAMESPACE);
  expect(await serverOf(elsewhere)).toEqual({ address, started: false });
  expect(await serversOn(stateDir)).toEqual([record.serverPid]);
  await elsewhere.finish();
});

test('A7: openDevServer: a second server on a database that is in use refuses to start, and the error says what to do', async () => {
  const { address } = await open();
  const record = await killKeeper();
  await rm(join(stateDir, 'server.json'));
  const elsewhere = startScript('server-user', [stateDir], {}, OWN_PID_NAMESPACE);
  const said = await elsewhere.line('PerdureError: ', 40_000);
  expect(said).toContain(`another Temporal server uses the database ${join(stateDir, 'temporal.db')}`);
  expect(said).toContain('stop that server, or set PERDURE_DIR to another folder');
  await elsewhere.finish();
  expect(elsewhere.lines.join('\n')).toContain("code: 'TEMPORAL_SERVER'");
  expect(await serversOn(stateDir)).toEqual([record.serverPid]);
  expect(await answersTemporal(address, 20_000)).toBe(true);
  await writeDevServerRecord(stateDir, record);
});

test('openDevServer: the record of a server that ended with its container does not delay the next start', async () => {
  const { address } = await open();
  const record = await killKeeper();
  process.kill(record.serverPid, 'SIGKILL');
  await vi.waitFor(() => expect(isPidProvedDead(record.serverPid, record.serverStart)).toBe(true), { timeout: 30_000 });
  await writeDevServerRecord(stateDir, { ...record, place: '00000000' });
  const since = Date.now();
  expect(await open()).toMatchObject({ address, started: true });
  expect(Date.now() - since).toBeLessThan(20_000);
});

test('openDevServer: a server with another database at the recorded port is not taken for the one of the folder', async () => {
  await open();
  const record = await killKeeper();
  process.kill(record.serverPid, 'SIGKILL');
  await vi.waitFor(() => expect(isPidProvedDead(record.serverPid, record.serverStart)).toBe(true), { timeout: 30_000 });
  await writeDevServerRecord(stateDir, { ...record, place: '00000000', address: inject('temporalAddress') });
  const next = await open();
  expect(next.started).toBe(true);
  expect(next.address).not.toBe(inject('temporalAddress'));
});

test('A15: openDevServer: a forged record makes neither a command nor a keeper stop the process that it names', async () => {
  const sleeper = await startSleeper();
  // a server answers at the address, so only the process itself shows that the record is forged
  await writeDevServerRecord(stateDir, forgedRecord(sleeper));
  const server = await open();
  expect(server.started).toBe(true);
  for (const each of opened.splice(0)) await each.close();
  await untilServerEnded(stateDir);
  expect(isPidProvedDead(sleeper.pid, sleeper.start)).toBe(false);
});

test('A15: keepDevServer: a process that is not the server of the folder is left alone', async () => {
  const sleeper = await startSleeper();
  const keeper = processIdentity();
  if (!keeper) throw new Error('no identity');
  await writeDevServerRecord(stateDir, { ...forgedRecord(sleeper), keeperPid: keeper.pid, keeperStart: keeper.start });
  const lines: string[] = [];
  await keepDevServer({ stateDir, server: sleeper, keeper, log: (line) => lines.push(line) });
  expect(lines).toEqual([`process ${sleeper.pid} is not the Temporal server of ${stateDir}; it keeps running`]);
  expect(isPidProvedDead(sleeper.pid, sleeper.start)).toBe(false);
  // the clean-up ends the processes of a record, and this one names the test
  await rm(join(stateDir, 'server.json'));
});

test('keepDevServer: a keeper that starts while the killed server is ending brings it back', async () => {
  const { address } = await open();
  const record = await killKeeper();
  const keeper = processIdentity();
  if (!keeper) throw new Error('no identity');
  const server = { pid: record.serverPid, start: record.serverStart };
  await writeDevServerRecord(stateDir, { ...record, keeperPid: keeper.pid, keeperStart: keeper.start });
  process.kill(server.pid, 'SIGKILL');
  // from the signal until it is gone, a process shows no arguments
  while (namedProcess(stateDir, server) === 'server') {}
  const lines: string[] = [];
  const kept = keepDevServer({ stateDir, server, keeper, log: (line) => lines.push(line) });
  await vi.waitFor(async () => expect(await answersTemporal(address, 1_000)).toBe(true), { timeout: 60_000, interval: 50 });
  expect(lines).toEqual([`the server (process ${server.pid}) exited while 1 processes used it; restarting it`]);
  for (const each of opened.splice(0)) await each.close();
  await kept;
});

test.each([
  ['another user may have written it', (record: DevServerRecord) => record, 0o666],
  ['it leads to another machine', (record: DevServerRecord) => ({ ...record, address: '192.0.2.1:7233' }), 0o600],
])('openDevServer: a record is set aside if %s', async (_why, change, mode) => {
  const sleeper = await startSleeper();
  const path = join(stateDir, 'server.json');
  await writeDevServerRecord(stateDir, change(forgedRecord(sleeper)));
  await chmod(path, mode);
  const said: string[] = [];
  expect(await open((line) => said.push(line))).toMatchObject({ started: true });
  expect(said.filter((line) => line.includes(path))).toHaveLength(1);
  expect(said.join('\n')).toContain('it is ignored and kept as server.json.unreadable');
  expect(existsSync(`${path}.unreadable`)).toBe(true);
});

async function open(say: (line: string) => void = () => {}): Promise<DevServer> {
  const server = await openDevServer({ stateDir, say });
  opened.push(server);
  return server;
}

async function killKeeper(): Promise<DevServerRecord> {
  const record = await readDevServerRecord(stateDir);
  if (!record) throw new Error('no server.json');
  process.kill(record.keeperPid, 'SIGKILL');
  await vi.waitFor(() => expect(isPidProvedDead(record.keeperPid, record.keeperStart)).toBe(true), { timeout: 30_000 });
  return record;
}

async function startSleeper(): Promise<ProcessIdentity> {
  const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' });
  sleepers.push(sleeper);
  await once(sleeper, 'spawn');
  const identity = processIdentity(sleeper.pid);
  if (!identity) throw new Error('sleep did not start');
  return identity;
}

function forgedRecord({ pid, start }: ProcessIdentity): DevServerRecord {
  return {
    address: inject('temporalAddress'),
    uiUrl: 'http://127.0.0.1:1',
    httpPort: 1,
    namespace: 'default',
    serverPid: pid,
    serverStart: start,
    // a pid above the system's maximum: the command replaces this keeper
    keeperPid: 2 ** 30,
    keeperStart: '1',
    place: OWN_PLACE,
  };
}

async function serverOf(user: Script): Promise<{ address: string; started: boolean }> {
  return JSON.parse(await user.line('server ', 40_000));
}
