import { access } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isPidProvedDead, type ProcessIdentity, stopProcess } from '../../process/process-identity.js';
import { withFolderLock } from '../state-folder/folder-lock.js';
import { absent, countLiveUsers, livePresences } from '../state-folder/presence.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { startDevServer } from './dev-server.js';
import { readDevServerRecord, removeDevServerRecord } from './record.js';
import { type NamedProcess, namedProcess, type ProcessStart } from './server-process.js';

/** Options of `keepDevServer`. */
export interface Keeping {
  readonly stateDir: string;
  /** The server to keep. */
  readonly server: ProcessStart;
  /** The identity of this process. */
  readonly keeper: ProcessIdentity;
  readonly log: (line: string) => void;
}

const CHECK_EVERY_MS = 250;
/** Long enough for the next command of a script to find the server running. */
const IDLE_MS_MAX = 3_000;
const STOP_GRACE_MS = 5_000;
/** A killed server ends within some 30 ms, on a busy machine within seconds. */
const INVISIBLE_MS_MAX = 60_000;
/** After this many restarts, a server that keeps dying stays stopped. Its log shows the reason. */
const RESTARTS_MAX = 5;

/**
 * Supervises the dev server of a folder: stops it after 3 s without a living user, and restarts it on the same ports if it dies while
 * it has users. Resolves when the server is stopped or belongs to another keeper. Never signals a process that is not proved to be the
 * server of this folder.
 */
export async function keepDevServer(keeping: Keeping): Promise<void> {
  let { server } = keeping;
  // pid and start time come from a record: checked once, because no other process ever has both
  const named = await visibleProcess(keeping.stateDir, server);
  if (named === 'other' || named === 'unknown') {
    return keeping.log(`process ${server.pid} is not the Temporal server of ${keeping.stateDir}; it keeps running`);
  }
  let restartsLeft = RESTARTS_MAX;
  let idleSince: number | undefined;
  for (;;) {
    await pause(CHECK_EVERY_MS);
    const users = await countLiveUsers(keeping.stateDir);
    idleSince = users > 0 ? undefined : (idleSince ?? Date.now());
    const isIdle = idleSince !== undefined && Date.now() - idleSince >= IDLE_MS_MAX;
    const isDead = isPidProvedDead(server.pid, server.start);
    if (!isIdle && !isDead) continue;
    const next = await settle({ ...keeping, server }, restartsLeft);
    if (!next) return;
    if (next.pid !== server.pid) restartsLeft -= 1;
    server = next;
  }
}

/** Looks a process up again while its arguments are not visible: a process that was killed shows none until it is gone. */
async function visibleProcess(stateDir: string, server: ProcessStart): Promise<NamedProcess> {
  const deadline = Date.now() + INVISIBLE_MS_MAX;
  for (;;) {
    const named = namedProcess(stateDir, server);
    if (named !== 'unknown' || Date.now() > deadline) return named;
    await pause(CHECK_EVERY_MS);
  }
}

/** Decides under the lock, so that no command starts or adopts a server meanwhile. Returns the server to keep, or undefined. */
async function settle(keeping: Keeping, restartsLeft: number): Promise<ProcessStart | undefined> {
  const { stateDir, server, log } = keeping;
  // acquiring the lock would recreate a deleted folder
  if (!(await exists(stateDir))) return end(server);
  return withFolderLock(stateFolder(stateDir).serverLock, {}, async () => {
    const record = await readDevServerRecord(stateDir, log);
    const isOurs = record?.serverPid === server.pid && record.serverStart === server.start;
    // without its record, the database was deleted or belongs to another server, so this one must stop
    if (!isOurs) return end(server);
    if (record.keeperPid !== keeping.keeper.pid || record.keeperStart !== keeping.keeper.start) return undefined;
    const users = await countLiveUsers(stateDir);
    const isDead = isPidProvedDead(server.pid, server.start);
    if (users > 0 && !isDead) return server;
    if (users > 0 && restartsLeft > 0) return restart(keeping, users);
    await end(server);
    await removeDevServerRecord(stateDir);
    await livePresences(stateFolder(stateDir).workerLock);
    return undefined;
  });
}

async function restart(keeping: Keeping, users: number): Promise<ProcessStart> {
  const { stateDir, keeper, log, server } = keeping;
  log(`the server (process ${server.pid}) exited while ${users} processes used it; restarting it`);
  const record = await startDevServer({ stateDir, keeper, say: log });
  return { pid: record.serverPid, start: record.serverStart };
}

async function end(server: ProcessStart): Promise<undefined> {
  await stopProcess(server.pid, server.start, STOP_GRACE_MS);
}

async function exists(path: string): Promise<boolean> {
  return (await access(path).then(() => true, absent)) ?? false;
}
