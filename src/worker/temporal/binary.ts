import { access, constants, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';
import { withFolderLock } from '../state-folder/folder-lock.js';
import { cacheFolder } from '../state-folder/state-folder.js';
import { buildTemporal } from './binary-build.js';
import { downloadTemporal } from './binary-download.js';

/** Options of `resolveTemporalBinary`. @default env process.env */
export interface TemporalBinaryOptions {
  readonly say: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
}

/** The newest version of the Temporal CLI that builds from the Go module proxy. Downloads use the same version. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/**
 * Finds a Temporal CLI that can run the dev server, in this order: `PERDURE_TEMPORAL_BIN`, PATH, the cache, the download service of the
 * SDK, a build from the Go module proxy (2-4 minutes, once). Concurrent processes share one download or build.
 * Throws PerdureError `TEMPORAL_BINARY` (5) with all failed attempts.
 */
export async function resolveTemporalBinary({ say, env = process.env }: TemporalBinaryOptions): Promise<string> {
  const named = env.PERDURE_TEMPORAL_BIN;
  if (named) {
    // absolute, because the server runs in another working folder
    if (await isExecutable(named)) return resolve(named);
    throw new PerdureError('TEMPORAL_BINARY', `PERDURE_TEMPORAL_BIN is "${named}", which is not an executable file`, 2);
  }
  const onPath = await firstExecutable((env.PATH ?? '').split(delimiter).filter(Boolean), 'temporal');
  if (onPath) return onPath;
  const cached = join(cacheFolder(env), 'temporal', TEMPORAL_CLI_VERSION, 'temporal');
  if (await isExecutable(cached)) return cached;
  return install(cached, say, env);
}

/** Fills the cache under its own lock, so that processes of several state folders share one download or build. */
async function install(cached: string, say: (line: string) => void, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = dirname(cached);
  await mkdir(folder, { recursive: true });
  const onWait = (pid: number): void => say(`waiting for process ${pid}, which installs the Temporal server`);
  return withFolderLock(join(folder, 'lock'), { onWait, pollMsMax: 500 }, async () => {
    if (await isExecutable(cached)) return cached;
    await removeRemains(folder);
    const tried = ['PERDURE_TEMPORAL_BIN is not set', 'no temporal on PATH', `no file at ${cached}`];
    const methods = [
      { method: 'download', installTo: downloadTemporal },
      { method: 'build', installTo: buildTemporal },
    ] as const;
    for (const { method, installTo } of methods) {
      try {
        await installTo(cached, { version: TEMPORAL_CLI_VERSION, say, env });
        return cached;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        say(`${method} of the Temporal server failed: ${reason}`);
        tried.push(`${method}: ${reason}`);
      }
    }
    const advice = 'install the Temporal CLI or Go, or set TEMPORAL_ADDRESS to a running server';
    throw new PerdureError('TEMPORAL_BINARY', `no Temporal server found (${tried.join('; ')}); ${advice}`, 5);
  });
}

async function firstExecutable(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = resolve(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    // a folder may have the executable bit too, and a file without content is what a power loss left of an older installation
    const found = await stat(path);
    return found.isFile() && found.size > 0;
  } catch {
    // missing or not executable: the next candidate is tried
    return false;
  }
}

/** Removes the files of a killed download or build, which take up to 3 GB. */
async function removeRemains(folder: string): Promise<void> {
  const remains = (await readdir(folder)).filter((name) => name.startsWith('.build-') || name.startsWith('.download-'));
  for (const name of remains) await rm(join(folder, name), { recursive: true, force: true });
}
