import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPidProvedDead, OWN_PLACE, processIdentity } from '../../process/process-identity.js';
import { stateFolder } from './state-folder.js';

/** The presence file of this process in a folder. */
export interface Presence {
  readonly name: string;
  remove(): Promise<void>;
}

/** The presence file of a process that is alive or cannot be proved dead. */
export interface LivePresence {
  readonly name: string;
  readonly pid: number;
}

const TOUCH_EVERY_MS = 5_000;
/** Processes of another host, boot or pid namespace cannot be looked up. Without a touch for this long, they count as dead. */
const FOREIGN_SILENT_MS_MAX = 30_000;
const NAME = /^(?<pid>[1-9]\d*)-(?<start>\d+)-(?<place>[0-9a-f]{8})-[0-9a-f]{8}\.json$/u;

/**
 * Creates a file in `dir` that marks this process as present. Its name `<pid>-<start>-<place>-<random>.json` is never reused, so that
 * any process may delete it once this process is dead. Only the name counts, so a file that a power loss emptied is as good. The file
 * is touched every 5 s for readers that cannot look up the pid.
 */
export async function announcePresence(dir: string): Promise<Presence> {
  const own = processIdentity();
  if (!own) throw new Error(`cannot read the start time of process ${process.pid}`);
  const name = `${own.pid}-${own.start}-${OWN_PLACE}-${randomBytes(4).toString('hex')}.json`;
  const path = join(dir, name);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(path, `${JSON.stringify(own)}\n`, { mode: 0o600, flag: 'wx' }).catch(ifNamed);
  const touching = setInterval(() => {
    const now = new Date();
    // the folder was deleted, so there is no file to touch
    utimes(path, now, now).catch(() => clearInterval(touching));
  }, TOUCH_EVERY_MS).unref();
  return {
    name,
    async remove() {
      clearInterval(touching);
      await rm(path, { force: true });
    },
  };
}

/** On a full disk, there is room for the name of a file. */
function ifNamed(error: unknown): void {
  // creating a file names its path, and writing to it does not
  const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  if (!isFull || 'path' in error) throw error;
}

/** Lists the processes present in `dir`, including the caller. Deletes the files of dead processes. A missing folder is empty. */
export async function livePresences(dir: string): Promise<LivePresence[]> {
  const live: LivePresence[] = [];
  for (const name of await namesIn(dir)) {
    const { pid, start, place } = NAME.exec(name)?.groups ?? {};
    if (!pid || !start || !place) continue;
    const path = join(dir, name);
    if (await isGone(path, { pid: Number(pid), start, place })) await rm(path, { force: true });
    else live.push({ name, pid: Number(pid) });
  }
  return live;
}

/** True if the owner of a file is dead: proved for a process of this place, assumed after 30 s without a touch for any other. */
async function isGone(path: string, owner: { readonly pid: number; readonly start: string; readonly place: string }): Promise<boolean> {
  if (owner.place === OWN_PLACE) return isPidProvedDead(owner.pid, owner.start);
  const touched = await stat(path).catch(absent);
  return touched === undefined || Date.now() - touched.mtimeMs > FOREIGN_SILENT_MS_MAX;
}

/** Returns undefined for ENOENT and rethrows every other error. */
export function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

async function namesIn(dir: string): Promise<string[]> {
  return (await readdir(dir).catch(absent)) ?? [];
}

/** A process that uses the embedded server, until it leaves or dies. */
export interface User {
  leave(): Promise<void>;
}

/** Registers this process as a user of the embedded server. The keeper stops a server without living users. */
export async function registerUser(stateDir: string): Promise<User> {
  const presence = await announcePresence(stateFolder(stateDir).users);
  return { leave: () => presence.remove() };
}

/** The number of living users of the embedded server. Deletes the files of dead ones. */
export async function countLiveUsers(stateDir: string): Promise<number> {
  return (await livePresences(stateFolder(stateDir).users)).length;
}
