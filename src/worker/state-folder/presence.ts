import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { writeJson } from './atomic-json.js';
import { isPidProvedDead, OWN_PLACE, processIdentity } from './process-identity.js';
import { stateFolder } from './state-folder.js';

/** The present process's own file in a folder of presences. */
export interface Presence {
  readonly name: string;
  remove(): Promise<void>;
}

/** Somebody's file whose process is alive, as far as can be known. */
export interface LivePresence {
  readonly name: string;
  readonly pid: number;
}

const TOUCH_EVERY_MS = 5_000;
/** Processes of another host, boot or pid namespace cannot be looked up; silent for this long, they count as gone. */
const FOREIGN_SILENT_MS_MAX = 30_000;
const NAME = /^\.?(?<pid>[1-9]\d*)-(?<start>\d+)-(?<place>[0-9a-f]{8})-[0-9a-f]{8}\.json/u;

/**
 * Puts a file into `dir` that says "this process is here", under a name that no process ever has again
 * (`<pid>-<start>-<place>-<random>.json`), so that anyone may unlink it once the process is gone.
 * The file is touched every 5 s for readers that cannot look the pid up.
 */
export async function announcePresence(dir: string): Promise<Presence> {
  const own = processIdentity();
  if (!own) throw new Error(`cannot read the start time of process ${process.pid}`);
  const name = `${own.pid}-${own.start}-${OWN_PLACE}-${randomBytes(4).toString('hex')}.json`;
  const path = join(dir, name);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeJson(path, own);
  const touching = setInterval(() => {
    const now = new Date();
    // the folder was deleted by hand: nothing is left to keep fresh
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

/** Everyone who is present in `dir`, the caller too; files of processes that are gone are unlinked on the way. An absent folder is empty. */
export async function livePresences(dir: string): Promise<LivePresence[]> {
  const live: LivePresence[] = [];
  for (const name of await namesIn(dir)) {
    const { pid, start, place } = NAME.exec(name)?.groups ?? {};
    if (!pid || !start || !place) continue;
    const path = join(dir, name);
    if (await isGone(path, { pid: Number(pid), start, place })) await rm(path, { force: true });
    // a leading dot is a file still being written
    else if (!name.startsWith('.')) live.push({ name, pid: Number(pid) });
  }
  return live;
}

/** Whether the owner of a file is gone: by proof for processes of this place, by silence for those of another. */
export async function isGone(
  path: string,
  owner: { readonly pid: number; readonly start: string; readonly place: string },
): Promise<boolean> {
  if (owner.place === OWN_PLACE) return isPidProvedDead(owner.pid, owner.start);
  const touched = await stat(path).catch(absent);
  return touched === undefined || Date.now() - touched.mtimeMs > FOREIGN_SILENT_MS_MAX;
}

/** Turns "no such file" into undefined and throws every other error on. */
export function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

async function namesIn(dir: string): Promise<string[]> {
  return (await readdir(dir).catch(absent)) ?? [];
}

/** A process that needs the folder's server, until it says otherwise or dies. */
export interface User {
  leave(): Promise<void>;
}

/** Registers this process as a user of the folder's server; the keeper stops a server without living users. */
export async function registerUser(stateDir: string): Promise<User> {
  const presence = await announcePresence(stateFolder(stateDir).users);
  return { leave: () => presence.remove() };
}

/** How many living users the folder's server has. Files of dead ones are unlinked on the way. */
export async function countLiveUsers(stateDir: string): Promise<number> {
  return (await livePresences(stateFolder(stateDir).users)).length;
}
