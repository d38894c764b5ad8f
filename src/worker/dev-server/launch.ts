import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PerdureError } from '../../contracts/perdure-error.js';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes.js';
import { absent } from '../state-folder/presence.js';
import { OWN_PLACE, type ProcessIdentity, processIdentity } from '../state-folder/process-identity.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { answersTemporal } from '../temporal/probe.js';
import { type DevServerPorts, pickPorts } from './ports.js';
import { type DevServerRecord, removeDevServerRecord, writeDevServerRecord } from './record.js';

/** Options of `launchDevServer`. */
export interface LaunchOptions {
  /** The path of the `temporal` binary. */
  readonly binary: string;
  /** The ports of the previous server. Used again if free, so that clients can reconnect. */
  readonly formerPorts?: DevServerPorts;
  /** The existing keeper. @default a new one is started */
  readonly keeper?: ProcessIdentity;
  readonly say: (line: string) => void;
}

const NAMESPACE = 'default';
const RETENTION_SECONDS = 90 * 24 * 60 * 60;
const ANSWER_WAIT_MS_MAX = 60_000;
const ANSWER_POLL_MS = 20;
const LAUNCHES_MAX = 3;
const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** Not the state folder, because it may be deleted while server and keeper run. */
const CHILD_CWD = '/';
/** The environment of server and keeper. It contains no model keys. */
const CHILD_ENV = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'XDG_CACHE_HOME', 'PERDURE_TEMPORAL_BIN', 'PERDURE_SYNC'];
const TYPE_NAMES = { KEYWORD: 'Keyword', DOUBLE: 'Double', INT: 'Int' } as const;

/**
 * Starts the Temporal dev server of a folder detached and resolves when it answers. The caller holds `server.lock` and has checked that
 * no server is running. Throws PerdureError `TEMPORAL_SERVER` (5) with the last line of its log if it does not start.
 */
export async function launchDevServer(stateDir: string, options: LaunchOptions): Promise<DevServerRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await pickPorts(attempt === 1 ? options.formerPorts : undefined);
    const { record, server } = await startRecorded(stateDir, ports, options);
    if (await answersOrEnds(record.address, server)) {
      await keepClosedRuns(record, options.say);
      return record;
    }
    await removeDevServerRecord(stateDir);
    const reason = await endOfLog(stateFolder(stateDir).logs);
    const portTaken = /address already in use|bind/iu.test(reason);
    if (!portTaken || attempt === LAUNCHES_MAX) {
      throw new PerdureError('TEMPORAL_SERVER', `the Temporal dev server did not start (${options.binary}): ${reason}`, 5);
    }
  }
}

/** Starts the process that stops the server of the folder when it has no users. */
export async function startKeeper(stateDir: string, server: Pick<ProcessIdentity, 'pid' | 'start'>): Promise<ProcessIdentity> {
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
  ports: DevServerPorts,
  options: LaunchOptions,
): Promise<{ record: DevServerRecord; server: ChildProcess }> {
  const folder = stateFolder(stateDir);
  const log = await openLog(folder.logs, 'server.log');
  const script = 'read -r go && exec "$@" </dev/null';
  const args = ['-c', script, 'perdure-dev-server', options.binary, ...serverFlags(folder.database, ports)];
  const server = spawn('/bin/sh', args, { cwd: CHILD_CWD, detached: true, env: childEnv(), stdio: ['pipe', log.fd, log.fd] });
  await log.close();
  const { pid, start } = spawnedIdentity(server, options.binary);
  const keeper = options.keeper ?? (await startKeeper(stateDir, { pid, start }));
  const record: DevServerRecord = {
    address: `127.0.0.1:${ports.grpc}`,
    uiUrl: `http://127.0.0.1:${ports.ui}`,
    httpPort: ports.http,
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
  return { record, server };
}

function serverFlags(database: string, ports: DevServerPorts): string[] {
  const pragmas = ['journal_mode=WAL', `synchronous=${process.env.PERDURE_SYNC === 'full' ? 'FULL' : 'NORMAL'}`];
  // a turn takes 200 ms with the defaults, and about 22 ms with these values
  const dynamicConfig = [
    'history.transferProcessorMaxPollRPS=10000',
    'system.enableActivityEagerExecution=true',
    'history.MaxBufferedQueryCount=100',
    // one partition, because a task in a partition without a poller waits for seconds
    'matching.numTaskqueueReadPartitions=1',
    'matching.numTaskqueueWritePartitions=1',
  ];
  const addresses = { ip: '127.0.0.1', port: ports.grpc, 'ui-port': ports.ui, 'http-port': ports.http, 'db-filename': database };
  const options = { ...addresses, 'log-level': 'warn' };
  return [
    'server',
    'start-dev',
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...dynamicConfig.flatMap((value) => ['--dynamic-config-value', value]),
    ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${TYPE_NAMES[type]}`]),
  ];
}

async function answersOrEnds(address: string, server: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + ANSWER_WAIT_MS_MAX;
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    if (await answersTemporal(address, 1_000)) return true;
    await pause(ANSWER_POLL_MS);
  }
  if (server.exitCode === null && server.signalCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  return false;
}

/** Sets the retention through the HTTP API. The dev server deletes closed runs after one day and has no flag for that. */
async function keepClosedRuns(record: DevServerRecord, say: (line: string) => void): Promise<void> {
  const url = `http://127.0.0.1:${record.httpPort}/api/v1/namespaces/${record.namespace}/update`;
  const body = JSON.stringify({ config: { workflowExecutionRetentionTtl: `${RETENTION_SECONDS}s` } });
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(5_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
  } catch (error) {
    say(
      `closed runs are kept for one day only, because the retention could not be set (${error instanceof Error ? error.message : String(error)})`,
    );
  }
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

async function endOfLog(logs: string): Promise<string> {
  const path = join(logs, 'server.log');
  const lines = ((await readFile(path, 'utf8').catch(absent)) ?? '').trim().split('\n');
  return `${lines.at(-1) || 'no output'} (log: ${path})`;
}

/**
 * The path of another module of this package, to run it as a process: always the built one, also from the TypeScript sources of a test.
 * `base` is the caller's `import.meta.url`, `name` the relative path of the module without extension.
 */
export function builtModule(base: string, name: string): string {
  const path = fileURLToPath(new URL(`./${name}.js`, base));
  return base.endsWith('.ts') ? path.replace(`${sep}src${sep}`, `${sep}dist${sep}`) : path;
}
