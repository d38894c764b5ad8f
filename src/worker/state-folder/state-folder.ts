import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fullDisk } from '../../artifacts/disk-room.js';
import { unlessMissing } from '../../contracts/files/file-errors.js';
import { PerdureError } from '../../contracts/perdure-error.js';

/** The paths of a state folder. All are absolute. */
export interface StateFolder {
  readonly dir: string;
  readonly users: string;
  readonly workers: string;
  readonly streams: string;
  readonly artifacts: string;
  /** Full tool outputs that were truncated for the model. Inside `artifacts`. */
  readonly outputs: string;
  /** Results of tool calls that the server may not have taken. */
  readonly results: string;
  /** Background commands: their records and outputs. */
  readonly commands: string;
  readonly logs: string;
  /** The SQLite file of the Temporal dev server. */
  readonly database: string;
  /** The record of the server that runs on the database; see `DevServerRecord`. */
  readonly serverRecord: string;
  /** The addresses of the last server, for the next one; see `KeptPorts`. */
  readonly portsRecord: string;
  /** The key with which the owner of the embedded server signs. */
  readonly authKey: string;
  /** The signatures that counted. */
  readonly signatures: string;
  /** What the schedules of the owner may start at the embedded server. */
  readonly schedules: string;
  /** The lock held while a server is started, adopted or stopped. */
  readonly serverLock: string;
  /** The lock held by the process that hosts the worker of the folder. */
  readonly workerLock: string;
}

/** The absolute path of the state folder: `PERDURE_DIR` if set, else `.perdure` in `cwd`. */
export function resolveStateDir(env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): string {
  return resolve(cwd, env.PERDURE_DIR || '.perdure');
}

/** The folder of whole outputs in a folder of artifacts. */
export const OUTPUTS_NAME = 'outputs';

/** Computes the paths of a state folder. Does not access the disk. */
export function stateFolder(stateDir: string): StateFolder {
  const dir = resolve(stateDir);
  return {
    dir,
    users: join(dir, 'users'),
    workers: join(dir, 'workers'),
    streams: join(dir, 'streams'),
    artifacts: join(dir, 'artifacts'),
    outputs: join(dir, 'artifacts', OUTPUTS_NAME),
    results: join(dir, 'results'),
    commands: join(dir, 'commands'),
    logs: join(dir, 'logs'),
    database: join(dir, 'temporal.db'),
    serverRecord: join(dir, 'server.json'),
    portsRecord: join(dir, 'ports.json'),
    authKey: join(dir, 'auth.key'),
    signatures: join(dir, 'signatures'),
    schedules: join(dir, 'schedules'),
    serverLock: join(dir, 'server.lock'),
    workerLock: join(dir, 'worker.lock'),
  };
}

/**
 * Creates the state folder if it is missing: readable only by its owner, because it contains prompts and responses, and ignored by git.
 * A folder that was there with a wider mode is closed too. One that others need or own stays as it is, and `perdure doctor` warns of it. Throws PerdureError `STATE_FOLDER` (2) if it cannot be created or written.
 */
export async function openStateFolder(stateDir: string): Promise<StateFolder> {
  const folder = stateFolder(stateDir);
  try {
    for (const dir of [folder.dir, folder.users, folder.workers, folder.streams, folder.artifacts, folder.logs]) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      if ((await isOpenToOthers(dir)) && !(await isForOthers(dir))) await chmod(dir, 0o700).catch(unlessOfOther);
    }
    await writeFile(join(folder.dir, '.gitignore'), '*\n');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PerdureError('STATE_FOLDER', `cannot use ${folder.dir}: ${reason}; set PERDURE_DIR to another folder`, 2, { cause: error });
  }
  return folder;
}

/** True for a folder that users other than its owner can read, write or search. False for one that is missing. */
export async function isOpenToOthers(dir: string): Promise<boolean> {
  // Windows has no such modes
  if (process.platform === 'win32') return false;
  const found = await stat(dir).catch(unlessMissing);
  return found !== undefined && (found.mode & 0o077) !== 0;
}

/** True for a folder that somebody named by mistake: one for temporary files of all users, and one that holds the home or this project. */
async function isForOthers(dir: string): Promise<boolean> {
  const { mode } = await stat(dir);
  const isSticky = (mode & 0o1000) !== 0;
  return isSticky || [homedir(), process.cwd()].some((inside) => !relative(dir, inside).startsWith('..'));
}

function unlessOfOther(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}

/** The cache folder: `perdure` in the cache folder of the user, where other users cannot write. */
export function cacheFolder(env: Readonly<NodeJS.ProcessEnv>): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'perdure');
}

/** Says how full the disk of a state folder is, if calls must wait for room on it. Never rejects. */
export async function fullStateDisk(stateDir: string): Promise<string | undefined> {
  return await fullDisk([resolve(stateDir)]);
}
