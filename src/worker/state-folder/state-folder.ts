import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
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
  readonly logs: string;
  /** The SQLite file of the Temporal dev server. */
  readonly database: string;
  /** The record of the server that runs on the database; see `DevServerRecord`. */
  readonly serverRecord: string;
  /** The lock held while a server is started, adopted or stopped. */
  readonly serverLock: string;
  /** The lock held by the process that hosts the worker of the folder. */
  readonly workerLock: string;
}

/** The absolute path of the state folder: `PERDURE_DIR` if set, else `.perdure` in `cwd`. */
export function resolveStateDir(env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): string {
  return resolve(cwd, env.PERDURE_DIR || '.perdure');
}

/** Computes the paths of a state folder. Does not access the disk. */
export function stateFolder(stateDir: string): StateFolder {
  const dir = resolve(stateDir);
  return {
    dir,
    users: join(dir, 'users'),
    workers: join(dir, 'workers'),
    streams: join(dir, 'streams'),
    artifacts: join(dir, 'artifacts'),
    outputs: join(dir, 'artifacts', 'outputs'),
    results: join(dir, 'results'),
    logs: join(dir, 'logs'),
    database: join(dir, 'temporal.db'),
    serverRecord: join(dir, 'server.json'),
    serverLock: join(dir, 'server.lock'),
    workerLock: join(dir, 'worker.lock'),
  };
}

/**
 * Creates the state folder if it is missing: readable only by its owner, because it contains prompts and responses, and ignored by git.
 * Throws PerdureError `STATE_FOLDER` (2) if it cannot be created or written.
 */
export async function openStateFolder(stateDir: string): Promise<StateFolder> {
  const folder = stateFolder(stateDir);
  try {
    for (const dir of [folder.dir, folder.users, folder.workers, folder.streams, folder.artifacts, folder.logs]) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
    }
    await writeFile(join(folder.dir, '.gitignore'), '*\n');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PerdureError('STATE_FOLDER', `cannot use ${folder.dir}: ${reason}; set PERDURE_DIR to another folder`, 2, { cause: error });
  }
  return folder;
}

/** The cache folder: `perdure` in the cache folder of the user, where other users cannot write. */
export function cacheFolder(env: Readonly<NodeJS.ProcessEnv>): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'perdure');
}
