import { access, utimes } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { withFolderLock } from '../state-folder/folder-lock.js';
import { absent, countLiveUsers, livePresences } from '../state-folder/presence.js';
import { isPidProvedDead, type ProcessIdentity, stopProcess } from '../state-folder/process-identity.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { startDevServer } from './dev-server.js';
import { readDevServerRecord, removeDevServerRecord } from './record.js';

/** Pid and start time of a process of this place. */
type ProcessStart = Pick<ProcessIdentity, 'pid' | 'start'>;

/** What a keeper watches over. */
export interface Keeping {
  readonly stateDir: string;
  /** The server it was started for. */
  readonly server: ProcessStart;
  /** The process that keeps: this one. */
  readonly keeper: ProcessIdentity;
  readonly log: (line: string) => void;
}

const LOOK_EVERY_MS = 250;
/** The next command of a script still finds the server there. */
const IDLE_MS_MAX = 3_000;
const STOP_GRACE_MS = 5_000;
/** A server that keeps dying is left dead, with its log, rather than restarted for ever. */
const RESTARTS_MAX = 5;

/**
 * Keeps a folder's dev server until it may end: stops it when no living user is registered for 3 s, and starts it again on the
 * same ports when it was killed while somebody uses it. Resolves when nothing is left to keep.
 */
export async function keepDevServer(keeping: Keeping): Promise<void> {
  let { server } = keeping;
  let restartsLeft = RESTARTS_MAX;
  let idleSince: number | undefined;
  for (;;) {
    await pause(LOOK_EVERY_MS);
    await showAlive(keeping.stateDir);
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

/** Decides under the lock, where no command can be starting or adopting: the server to keep from now on, or undefined when there is none. */
async function settle(keeping: Keeping, restartsLeft: number): Promise<ProcessStart | undefined> {
  const { stateDir, server } = keeping;
  // taking the lock would make a deleted folder anew
  if (!(await exists(stateDir))) return end(server);
  return withFolderLock(stateFolder(stateDir).serverLock, {}, async () => {
    const record = await readDevServerRecord(stateDir);
    const isOurs = record?.serverPid === server.pid && record.serverStart === server.start;
    // without a record its database is gone or somebody else's: it must not run on
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
  log(`the server (process ${server.pid}) ended while ${users} processes used it; starting it again`);
  const record = await startDevServer({ stateDir, keeper, say: log });
  return { pid: record.serverPid, start: record.serverStart };
}

async function end(server: ProcessStart): Promise<undefined> {
  await stopProcess(server.pid, server.start, STOP_GRACE_MS);
}

/** A fresh record tells processes of other containers, which cannot look our pids up, that the server is there. */
async function showAlive(stateDir: string): Promise<void> {
  const now = new Date();
  await utimes(stateFolder(stateDir).serverRecord, now, now).catch(absent);
}

async function exists(path: string): Promise<boolean> {
  return (await access(path).then(() => true, absent)) ?? false;
}
