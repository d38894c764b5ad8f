import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';

/** Where everything of the embedded default is kept. All paths are absolute. */
export interface StateFolder {
  readonly dir: string;
  readonly users: string;
  readonly workers: string;
  readonly streams: string;
  readonly artifacts: string;
  /** Whole tool outputs that were cut for the model; inside `artifacts`. */
  readonly outputs: string;
  readonly logs: string;
  /** The Temporal dev server's SQLite file. */
  readonly database: string;
  /** Which server runs on the database; see `DevServerRecord`. */
  readonly serverRecord: string;
  /** Held while a server is started, adopted or stopped. */
  readonly serverLock: string;
  /** Held by the one process that hosts the folder's worker. */
  readonly workerLock: string;
}

/** The state folder of a working folder: `PERDURE_DIR` when set, else `.perdure` in it; absolute. */
export function resolveStateDir(env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): string {
  return resolve(cwd, env.PERDURE_DIR || '.perdure');
}

/** The paths inside a state folder. Touches nothing. */
export function stateFolder(stateDir: string): StateFolder {
  const dir = resolve(stateDir);
  return {
    dir,
    users: join(dir, 'users'),
    workers: join(dir, 'workers'),
    streams: join(dir, 'streams'),
    artifacts: join(dir, 'artifacts'),
    outputs: join(dir, 'artifacts', 'outputs'),
    logs: join(dir, 'logs'),
    database: join(dir, 'temporal.db'),
    serverRecord: join(dir, 'server.json'),
    serverLock: join(dir, 'server.lock'),
    workerLock: join(dir, 'worker.lock'),
  };
}

/**
 * Makes the state folder where it is missing: readable by its owner only (it holds prompts and answers) and ignored by git.
 * Throws PerdureError `STATE_FOLDER` (2) when it cannot be made or written.
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
    throw new PerdureError('STATE_FOLDER', `cannot use ${folder.dir}: ${reason}; PERDURE_DIR names another folder`, 2, { cause: error });
  }
  return folder;
}

/** Where what can be made again is kept: `perdure` in the user's cache folder, which nobody else can write to. */
export function cacheFolder(env: Readonly<NodeJS.ProcessEnv>): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'perdure');
}
