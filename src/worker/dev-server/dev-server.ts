import { setTimeout as pause } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import { withFolderLock } from '../state-folder/folder-lock.js';
import { registerUser } from '../state-folder/presence.js';
import { OWN_PLACE, type ProcessIdentity } from '../state-folder/process-identity.js';
import { openStateFolder, stateFolder } from '../state-folder/state-folder.js';
import { resolveTemporalBinary } from '../temporal/binary.js';
import { answersTemporal } from '../temporal/probe.js';
import { launchDevServer, startKeeper } from './launch.js';
import type { DevServerPorts } from './ports.js';
import {
  type DevServerRecord,
  isKeeperAlive,
  isServerAlive,
  readDevServerRecord,
  removeDevServerRecord,
  writeDevServerRecord,
} from './record.js';

/** A running dev server that this process is registered with. */
export interface DevServer {
  /** `127.0.0.1:port` of the gRPC frontend. */
  readonly address: string;
  /** Where the Web UI is. */
  readonly uiUrl: string;
  readonly namespace: string;
  /** True when this call started it, false when it ran already. */
  readonly started: boolean;
  /** Says that this process no longer needs the server; it ends 3 s after its last user. */
  close(): Promise<void>;
}

/** What to open, and where to say what takes long. */
export interface DevServerOptions {
  readonly stateDir: string;
  readonly say: (line: string) => void;
}

const ANSWER_WAIT_MS_MAX = 60_000;
const ANSWER_TIMEOUT_MS = 1_000;
const ANSWER_POLL_MS = 50;
const SAY_AFTER_MS = 1_000;

/**
 * The Temporal dev server of a state folder: adopted when it runs, started when not, never a second one on the same database.
 * This process becomes one of its users. Throws PerdureError `TEMPORAL_BINARY` or `TEMPORAL_SERVER` (5), `STATE_FOLDER` (2).
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
 * Starts the folder's server anew, on the ports it had before when they are free. The caller holds `server.lock` and has made sure that no server lives.
 * `keeper` is the keeper that is there already. Throws as openDevServer does.
 */
export async function startDevServer(options: DevServerOptions & { readonly keeper?: ProcessIdentity }): Promise<DevServerRecord> {
  const { stateDir, say, keeper } = options;
  const former = await readDevServerRecord(stateDir);
  await removeDevServerRecord(stateDir);
  const binary = await resolveTemporalBinary({ say });
  return launchDevServer(stateDir, { binary, say, ...(keeper && { keeper }), ...(former && { formerPorts: portsOf(former) }) });
}

async function adoptOrStart(options: DevServerOptions): Promise<{ record: DevServerRecord; started: boolean }> {
  const { stateDir, say } = options;
  const onWait = (pid: number): void => say(`process ${pid} starts, adopts or stops the Temporal server of this folder; waiting for it`);
  return withFolderLock(stateFolder(stateDir).serverLock, { onWait }, async () => {
    const record = await readDevServerRecord(stateDir);
    if (record && (await waitForAnswer(stateDir, record, say))) return { record: await withKeeper(stateDir, record), started: false };
    return { record: await startDevServer(options), started: true };
  });
}

/**
 * True when the recorded server answers, false when it is dead. One that lives and does not answer is starting, stopping or
 * stuck: it is waited for, and never joined by a second one.
 */
async function waitForAnswer(stateDir: string, record: DevServerRecord, say: (line: string) => void): Promise<boolean> {
  const since = Date.now();
  let told = false;
  for (;;) {
    // looked up first: another program may answer on the port of a dead server
    if (!(await isServerAlive(stateDir, record))) return false;
    if (await answersTemporal(record.address, ANSWER_TIMEOUT_MS)) return true;
    const waitedMs = Date.now() - since;
    if (waitedMs > ANSWER_WAIT_MS_MAX) throw silentServer(record);
    if (waitedMs > SAY_AFTER_MS && !told) say(`waiting for the Temporal server of this folder (process ${record.serverPid}) to answer`);
    told ||= waitedMs > SAY_AFTER_MS;
    await pause(ANSWER_POLL_MS);
  }
}

function silentServer(record: DevServerRecord): PerdureError {
  const foreign = record.place === OWN_PLACE ? '' : ' in another container, boot or host';
  const message = `the server of this folder (process ${record.serverPid}${foreign}) does not answer at ${record.address}; stop that process, or use another folder with PERDURE_DIR`;
  return new PerdureError('TEMPORAL_SERVER', message, 5);
}

async function withKeeper(stateDir: string, record: DevServerRecord): Promise<DevServerRecord> {
  if (isKeeperAlive(record)) return record;
  const keeper = await startKeeper(stateDir, { pid: record.serverPid, start: record.serverStart });
  const kept = { ...record, keeperPid: keeper.pid, keeperStart: keeper.start };
  await writeDevServerRecord(stateDir, kept);
  return kept;
}

function portsOf(record: DevServerRecord): DevServerPorts {
  return { grpc: portOf(record.address), ui: Number(new URL(record.uiUrl).port), http: record.httpPort };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
