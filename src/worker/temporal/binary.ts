import { access, constants, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';
import { withFolderLock } from '../state-folder/folder-lock.js';
import { cacheFolder } from '../state-folder/state-folder.js';
import { buildTemporal } from './binary-build.js';
import { downloadTemporal } from './binary-download.js';

/** Where to look. @default env the process's own */
export interface TemporalBinaryOptions {
  readonly say: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
}

/** The newest version of the Temporal CLI that builds from the Go module proxy; downloads take the same. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/**
 * The path of a Temporal CLI that can run the dev server, from the first place that has one: `PERDURE_TEMPORAL_BIN`, PATH, our cache, the
 * SDK's download service, a build from the Go module proxy (2-4 minutes, once). Ten processes share one download or build.
 * Throws PerdureError `TEMPORAL_BINARY` (5) that lists all that was tried.
 */
export async function resolveTemporalBinary({ say, env = process.env }: TemporalBinaryOptions): Promise<string> {
  const named = env.PERDURE_TEMPORAL_BIN;
  if (named) {
    // the server does not run in our working folder
    if (await isExecutable(named)) return resolve(named);
    throw new PerdureError('TEMPORAL_BINARY', `PERDURE_TEMPORAL_BIN names ${named}, which is not an executable file`, 2);
  }
  const onPath = await firstExecutable((env.PATH ?? '').split(delimiter).filter(Boolean), 'temporal');
  if (onPath) return onPath;
  const cached = join(cacheFolder(env), 'temporal', TEMPORAL_CLI_VERSION, 'temporal');
  if (await isExecutable(cached)) return cached;
  return bring(cached, say, env);
}

/** Fills the cache under a lock of its own, so that processes of several state folders wait for one download or build. */
async function bring(cached: string, say: (line: string) => void, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = dirname(cached);
  await mkdir(folder, { recursive: true });
  const onWait = (pid: number): void => say(`process ${pid} is bringing the Temporal server; waiting for it`);
  return withFolderLock(join(folder, 'lock'), { onWait, pollMsMax: 500 }, async () => {
    if (await isExecutable(cached)) return cached;
    await removeRemains(folder);
    const tried = ['PERDURE_TEMPORAL_BIN is not set', 'no temporal on PATH', `nothing at ${cached}`];
    const ways = [
      { way: 'download', bringTo: downloadTemporal },
      { way: 'build', bringTo: buildTemporal },
    ] as const;
    for (const { way, bringTo } of ways) {
      try {
        await bringTo(cached, { version: TEMPORAL_CLI_VERSION, say, env });
        return cached;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        say(`${way} of the Temporal server failed: ${reason}`);
        tried.push(`${way}: ${reason}`);
      }
    }
    const advice = 'install the Temporal CLI or Go, or set TEMPORAL_ADDRESS to a running server';
    throw new PerdureError('TEMPORAL_BINARY', `found no Temporal server (${tried.join('; ')}); ${advice}`, 5);
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
    // a folder may be "executable" too
    return (await stat(path)).isFile();
  } catch {
    // absent, or not for us: the next place is tried
    return false;
  }
}

/** A download or build that was killed leaves up to 3.5 GB behind. */
async function removeRemains(folder: string): Promise<void> {
  const remains = (await readdir(folder)).filter((name) => name.startsWith('.build-') || name.startsWith('.download-'));
  for (const name of remains) await rm(join(folder, name), { recursive: true, force: true });
}
