import { setTimeout as pause } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { ProcessIdentity } from '../../process/process-identity.js';
import { withFolderLock } from '../state-folder/folder-lock.js';
import { registerUser } from '../state-folder/presence.js';
import { openStateFolder, stateFolder } from '../state-folder/state-folder.js';
import { resolveTemporalBinary } from '../temporal/binary.js';
import { answersTemporal } from '../temporal/probe.js';
import { grpcPort } from './kept-ports.js';
import { launchDevServer, startKeeper } from './launch.js';
import {
  answersAsRecorded,
  type DevServerRecord,
  isKeeperAlive,
  readDevServerRecord,
  recordedServer,
  writeDevServerRecord,
} from './record.js';

/** A running dev server of which this process is a registered user. */
export interface DevServer {
  /** `127.0.0.1:port` of the gRPC frontend. */
  readonly address: string;
  /** The address of the Web UI. */
  readonly uiUrl: string;
  readonly namespace: string;
  /** True if this call started it, false if it was already running. */
  readonly started: boolean;
  /** Unregisters this process. The server stops 3 s after its last user leaves. */
  close(): Promise<void>;
}

/** Options of `openDevServer`. `say` receives notices about slow steps. */
export interface DevServerOptions {
  readonly stateDir: string;
  /** The gRPC port of the server; its Web UI gets this number and 1,000. @default the ports of the last server if free, else any */
  readonly port?: number | undefined;
  readonly say: (line: string) => void;
}

const ANSWER_WAIT_MS_MAX = 60_000;
const ANSWER_TIMEOUT_MS = 1_000;
const ANSWER_POLL_MS = 50;
const SAY_AFTER_MS = 1_000;

/**
 * Adopts the running dev server of a state folder, or starts one. Never starts a second one on the same database. Registers this process
 * as a user. Throws PerdureError `TEMPORAL_BINARY` or `TEMPORAL_SERVER` (5), `STATE_FOLDER` or `PORT_IN_USE` (2), or `SERVER_RUNNING` (4) if
 * the running server has another port than the one that was asked for.
 */
export async function openDevServer(options: DevServerOptions): Promise<DevServer> {
  await openStateFolder(options.stateDir);
  const user = await registerUser(options.stateDir);
  try {
    const { record, started } = await adoptOrStart(options);
    const { address, uiUrl, namespace } = record;
    return { address, uiUrl, namespace, started, close: () => user.leave() };
  } catch (error) {
    await user.leave();
    throw error;
  }
}

/**
 * Starts the server of a folder, on its previous ports if they are free. The caller holds `server.lock` and has checked that no server
 * is running. `keeper` is the existing keeper, if any. Throws as openDevServer does.
 */
export async function startDevServer(options: DevServerOptions & { readonly keeper?: ProcessIdentity }): Promise<DevServerRecord> {
  const { stateDir, say, keeper, port } = options;
  const former = await readDevServerRecord(stateDir, say);
  const binary = await resolveTemporalBinary({ say });
  return launchDevServer(stateDir, { binary, say, port, ...(keeper && { keeper }), ...(former && { former }) });
}

async function adoptOrStart(options: DevServerOptions): Promise<{ record: DevServerRecord; started: boolean }> {
  const { stateDir, say, port } = options;
  const onWait = (pid: number): void => say(`waiting for process ${pid}, which starts or stops the Temporal server of this folder`);
  return withFolderLock(stateFolder(stateDir).serverLock, { onWait }, async () => {
    const record = await readDevServerRecord(stateDir, say);
    if (record && (await isUsable(stateDir, record, say))) {
      if (port !== undefined && port !== grpcPort(record)) throw otherPort(record, port);
      return { record: await withKeeper(stateDir, record), started: false };
    }
    return { record: await startDevServer(options), started: true };
  });
}

/**
 * True if the recorded server answers, false if it is dead or cannot be reached. Processes of another container, boot or host cannot be
 * looked up: there the answer decides, and a server that runs unreached holds the lock of the database.
 */
async function isUsable(stateDir: string, record: DevServerRecord, say: (line: string) => void): Promise<boolean> {
  if (recordedServer(stateDir, record) === 'elsewhere') return answersAsRecorded(record, ANSWER_TIMEOUT_MS);
  return waitForAnswer(stateDir, record, say);
}

/**
 * True if the recorded server answers, false if it is dead. A living server that does not answer is starting, stopping or stuck: this
 * function waits for it, because only one server may run on a database.
 */
async function waitForAnswer(stateDir: string, record: DevServerRecord, say: (line: string) => void): Promise<boolean> {
  const since = Date.now();
  let notified = false;
  for (;;) {
    // checked first, because another program may answer on the port of a dead server
    const named = recordedServer(stateDir, record);
    if (named === 'gone' || named === 'other') return false;
    if (await answersTemporal(record.address, ANSWER_TIMEOUT_MS)) return true;
    const waitedMs = Date.now() - since;
    if (waitedMs > ANSWER_WAIT_MS_MAX) throw silentServer(record);
    if (waitedMs > SAY_AFTER_MS && !notified) say(`waiting for the Temporal server of this folder (process ${record.serverPid}) to answer`);
    notified ||= waitedMs > SAY_AFTER_MS;
    await pause(ANSWER_POLL_MS);
  }
}

function silentServer(record: DevServerRecord): PerdureError {
  const message = `the server of this folder (process ${record.serverPid}) does not answer at ${record.address}; stop that process, or set PERDURE_DIR to another folder`;
  return new PerdureError('TEMPORAL_SERVER', message, 5);
}

function otherPort({ address, serverPid }: DevServerRecord, port: number): PerdureError {
  const running = `the Temporal server of this folder already runs at ${address} (process ${serverPid})`;
  return new PerdureError(
    'SERVER_RUNNING',
    `${running}, so it cannot use port ${port}; stop the commands of this folder, or omit --port`,
    4,
  );
}

async function withKeeper(stateDir: string, record: DevServerRecord): Promise<DevServerRecord> {
  if (isKeeperAlive(record)) return record;
  const keeper = await startKeeper(stateDir, { pid: record.serverPid, start: record.serverStart });
  const kept = { ...record, keeperPid: keeper.pid, keeperStart: keeper.start };
  await writeDevServerRecord(stateDir, kept);
  return kept;
}
