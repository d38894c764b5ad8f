import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SEARCH_ATTRIBUTES } from '../../contracts/constants/search-attributes.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { OWN_PLACE, type ProcessIdentity, processIdentity } from '../../process/process-identity.js';
import { absent } from '../state-folder/presence.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { answersTemporal, namespaceIdAt } from '../temporal/probe.js';
import { allowedHosts, keepClosedRuns, newHttpHost } from './http-api.js';
import { addressesOf, type KeptAddresses, keepAddresses, readKeptAddresses } from './kept-ports.js';
import { type DevServerPorts, pickPorts, pickUiHost } from './ports.js';
import { type DevServerRecord, removeDevServerRecord, writeDevServerRecord } from './record.js';
import { DATABASE_FLAG, type ProcessStart } from './server-process.js';

/** Options of `launchDevServer`. */
export interface LaunchOptions {
  /** The path of the `temporal` binary. */
  readonly binary: string;
  /** The record of a server that did not stop cleanly. */
  readonly former?: DevServerRecord;
  /** The gRPC port that the user asked for. @default the ports of the previous server if free, so that clients can reconnect */
  readonly port?: number | undefined;
  /** The existing keeper. @default a new one is started */
  readonly keeper?: ProcessIdentity;
  readonly say: (line: string) => void;
}

const NAMESPACE = 'default';
const ANSWER_WAIT_MS_MAX = 60_000;
const ANSWER_POLL_MS = 20;
const LAUNCHES_MAX = 3;
const ANSWER_TIMEOUT_MS = 1_000;
const PORT_TAKEN = /address already in use|bind/iu;
/** What a server prints that finds another one on its database. */
const DATABASE_LOCKED = /database is locked|SQLITE_BUSY/u;
const SERVER_LOG = 'server.log';
const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** Not the state folder, because it may be deleted while server and keeper run. */
const CHILD_CWD = '/';
/** The environment of server and keeper. It contains no model keys. */
const CHILD_ENV = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'XDG_CACHE_HOME', 'PERDURE_TEMPORAL_BIN', 'PERDURE_SYNC'];
const TYPE_NAMES = { KEYWORD: 'Keyword', DOUBLE: 'Double', INT: 'Int' } as const;

/**
 * Starts the Temporal dev server of a folder detached and resolves when it answers. The caller holds `server.lock` and has found no
 * server. Throws PerdureError `TEMPORAL_SERVER` (5) if another server has locked the database, or with the last line of the log if the
 * server does not start, and `PORT_IN_USE` (2).
 */
export async function launchDevServer(stateDir: string, options: LaunchOptions): Promise<DevServerRecord> {
  const { former, binary, port, say } = options;
  const kept = former ? addressesOf(former) : await readKeptAddresses(stateDir, say);
  const uiHost = await pickUiHost(kept?.uiHost);
  for (let attempt = 1; ; attempt += 1) {
    const ports = await pickPorts({ uiHost, fixed: port, wanted: attempt === 1 ? kept?.ports : undefined });
    const { record, server, printed } = await startRecorded(stateDir, { ports, uiHost }, options);
    if (await answersOrEnds(record.address, server)) {
      await keepAddresses(stateDir, record);
      await keepClosedRuns(record, say);
      return identified(stateDir, record);
    }
    const log = await printed();
    if (DATABASE_LOCKED.test(log)) {
      // the record of a server that runs elsewhere stays
      await (former && former.place !== OWN_PLACE ? writeDevServerRecord(stateDir, former) : removeDevServerRecord(stateDir));
      throw databaseInUse(stateDir, former);
    }
    await removeDevServerRecord(stateDir);
    if (!PORT_TAKEN.test(log) || attempt === LAUNCHES_MAX) {
      const reason = `${log.split('\n').at(-1) || 'no output'} (log: ${logPath(stateDir)})`;
      throw new PerdureError('TEMPORAL_SERVER', `the Temporal dev server did not start (${binary}): ${reason}`, 5);
    }
  }
}

/** Adds the id by which a command in another container finds out that a server is the one of this folder. */
async function identified(stateDir: string, record: DevServerRecord): Promise<DevServerRecord> {
  const namespaceId = await namespaceIdAt(record.address, { namespace: record.namespace, timeoutMs: ANSWER_TIMEOUT_MS });
  if (namespaceId === undefined) return record;
  const known = { ...record, namespaceId };
  await writeDevServerRecord(stateDir, known);
  return known;
}

function databaseInUse(stateDir: string, former: DevServerRecord | undefined): PerdureError {
  const where = former && former.place !== OWN_PLACE ? ' in another container or on another host' : '';
  const named = former ? ` (last record: process ${former.serverPid}${where}, ${former.address})` : '';
  const { database } = stateFolder(stateDir);
  const message = `another Temporal server uses the database ${database} and cannot be reached${named}; stop that server, or set PERDURE_DIR to another folder`;
  return new PerdureError('TEMPORAL_SERVER', message, 5);
}

/** Starts the process that stops the server of the folder when it has no users. */
export async function startKeeper(stateDir: string, server: ProcessStart): Promise<ProcessIdentity> {
  const folder = stateFolder(stateDir);
  const log = await openLog(folder.logs, 'keeper.log');
  const args = [builtModule(import.meta.url, 'keeper'), folder.dir, String(server.pid), server.start];
  const keeper = spawn(process.execPath, args, { cwd: CHILD_CWD, detached: true, env: childEnv(), stdio: ['ignore', log.fd, log.fd] });
  keeper.unref();
  await log.close();
  return spawnedIdentity(keeper, 'the keeper of the dev server');
}

/**
 * Starts a shell that waits for one line of input before it executes the server, and writes the record in between. If this process dies
 * before it writes the record, the shell reads the end of its input and exits, so no server runs without a record.
 */
async function startRecorded(
  stateDir: string,
  { ports, uiHost }: KeptAddresses,
  options: LaunchOptions,
): Promise<{ record: DevServerRecord; server: ChildProcess; printed: () => Promise<string> }> {
  const folder = stateFolder(stateDir);
  const log = await openLog(folder.logs, SERVER_LOG);
  const { size } = await log.stat();
  // the database is for its owner alone, also in a folder that others can look into
  const script = 'umask 077; read -r go && exec "$@" </dev/null';
  const httpHost = newHttpHost();
  const flags = serverFlags(folder.database, { ports, httpHost, uiHost });
  const args = ['-c', script, 'perdure-dev-server', options.binary, ...flags];
  const server = spawn('/bin/sh', args, { cwd: CHILD_CWD, detached: true, env: childEnv(), stdio: ['pipe', log.fd, log.fd] });
  await log.close();
  const { pid, start } = spawnedIdentity(server, options.binary);
  const keeper = options.keeper ?? (await startKeeper(stateDir, { pid, start }));
  const record: DevServerRecord = {
    address: `127.0.0.1:${ports.grpc}`,
    uiUrl: `http://${uiHost}:${ports.ui}`,
    httpPort: ports.http,
    httpHost,
    namespace: NAMESPACE,
    serverPid: pid,
    serverStart: start,
    keeperPid: keeper.pid,
    keeperStart: keeper.start,
    place: OWN_PLACE,
  };
  await writeDevServerRecord(stateDir, record);
  server.stdin?.end('go\n');
  server.unref();
  return { record, server, printed: () => logAfter(logPath(stateDir), size) };
}

function serverFlags(
  database: string,
  { ports, httpHost, uiHost }: { readonly ports: DevServerPorts; readonly httpHost: string; readonly uiHost: string },
): string[] {
  // with EXCLUSIVE, a second server on the database ends at once
  const pragmas = ['journal_mode=WAL', 'locking_mode=EXCLUSIVE', `synchronous=${process.env.PERDURE_SYNC === 'full' ? 'FULL' : 'NORMAL'}`];
  // a turn takes 200 ms with the defaults, and about 22 ms with these values
  const dynamicConfig = [
    'history.transferProcessorMaxPollRPS=10000',
    'system.enableActivityEagerExecution=true',
    'history.MaxBufferedQueryCount=100',
    // one partition, because a task in a partition without a poller waits for seconds
    'matching.numTaskqueueReadPartitions=1',
    'matching.numTaskqueueWritePartitions=1',
    allowedHosts(httpHost),
  ];
  const addresses = { ip: '127.0.0.1', port: ports.grpc, 'ui-ip': uiHost, 'ui-port': ports.ui, 'http-port': ports.http };
  const options = { ...addresses, 'log-level': 'warn' };
  return [
    'server',
    'start-dev',
    DATABASE_FLAG,
    database,
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...dynamicConfig.flatMap((value) => ['--dynamic-config-value', value]),
    ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${TYPE_NAMES[type]}`]),
  ];
}

async function answersOrEnds(address: string, server: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + ANSWER_WAIT_MS_MAX;
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    if (await answersTemporal(address, ANSWER_TIMEOUT_MS)) return true;
    await pause(ANSWER_POLL_MS);
  }
  if (server.exitCode === null && server.signalCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  return false;
}

function spawnedIdentity(child: ChildProcess, what: string): ProcessIdentity {
  const identity = child.pid === undefined ? undefined : processIdentity(child.pid);
  if (identity) return identity;
  // a spawn failure is reported as an `error` event; without a listener it would end this process
  child.once('error', (error) => process.emitWarning(`${what}: ${error.message}`));
  throw new PerdureError('TEMPORAL_SERVER', `cannot start ${what}`, 5);
}

function childEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(CHILD_ENV.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

async function openLog(logs: string, name: string): Promise<FileHandle> {
  const path = join(logs, name);
  const existing = await stat(path).catch(absent);
  if (existing && existing.size > LOG_BYTES_MAX) await rename(path, `${path}.1`);
  return open(path, 'a', 0o600);
}

async function logAfter(path: string, offset: number): Promise<string> {
  return (await readFile(path)).subarray(offset).toString().trim();
}

function logPath(stateDir: string): string {
  return join(stateFolder(stateDir).logs, SERVER_LOG);
}

/**
 * The path of another module of this package, to run it as a process: always the built one, also from the TypeScript sources of a test.
 * `base` is the caller's `import.meta.url`, `name` the relative path of the module without extension.
 */
export function builtModule(base: string, name: string): string {
  const path = fileURLToPath(new URL(`./${name}.js`, base));
  return base.endsWith('.ts') ? path.replace(`${sep}src${sep}`, `${sep}dist${sep}`) : path;
}
