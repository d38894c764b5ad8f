import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import { builtModule } from '../../worker/dev-server/launch.js';
import { passEnvironment } from '../../worker/hosting/passed-environment.js';
import { withFolderLock } from '../../worker/state-folder/folder-lock.js';
import { announcePresence, livePresences, type Presence } from '../../worker/state-folder/presence.js';
import { stateFolder } from '../../worker/state-folder/state-folder.js';
import type { PlaceOptions } from './workplace.js';

/** A background process that runs a worker until the folder has no open run. */
export interface Background {
  readonly pid: number;
  /** Its log file. Undefined if the process was already running. */
  readonly log?: string;
}

/** Announces this process as the background process of the folder, so that `start` does not spawn another one. */
export async function announceBackground(stateDir: string): Promise<Presence> {
  return await announcePresence(backgroundFolder(stateDir));
}

/**
 * Finds or spawns the background process of the folder. A new one has its own process group and outlives this command. Concurrent
 * commands share one. `env` is its environment, with the keys. Throws `BACKGROUND_FAILED` (exit 1) if the new process exits before it is ready.
 */
export async function ensureBackground(stateDir: string, options: PlaceOptions, env: NodeJS.ProcessEnv = process.env): Promise<Background> {
  return await withFolderLock(join(stateFolder(stateDir).dir, 'background.lock'), {}, async () => {
    const [existing] = await livePresences(backgroundFolder(stateDir));
    return existing ? { pid: existing.pid } : await spawnBackground(stateDir, options, env);
  });
}

async function spawnBackground(stateDir: string, options: PlaceOptions, env: NodeJS.ProcessEnv): Promise<Background> {
  const { logs } = stateFolder(stateDir);
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const log = join(logs, `dev-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}.log`);
  const file = await open(log, 'a', 0o600);
  try {
    const passed = passEnvironment({ ...env, PERDURE_DIR: stateDir }, ENVIRONMENT);
    const child = spawn(process.execPath, [builtModule(import.meta.url, '../main'), 'dev', '--until-idle', ...placeArguments(options)], {
      detached: true,
      stdio: ['ignore', file.fd, file.fd, passed.stdio],
      env: passed.env,
    });
    passed.send(child);
    await untilAnnounced(child, { stateDir, log });
    child.unref();
    // an announced process has a pid
    return { pid: child.pid ?? 0, log };
  } finally {
    await file.close();
  }
}

/** Waits until the new process has announced itself. From then on, other commands find it. */
async function untilAnnounced(child: ChildProcess, { stateDir, log }: { stateDir: string; log: string }): Promise<void> {
  // an unhandled spawn error would end this process; the missing pid shows it instead
  child.on('error', () => undefined);
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    if ((await livePresences(backgroundFolder(stateDir))).some(({ pid }) => pid === child.pid)) return;
    await delay(POLL_MS);
  }
  throw await backgroundFailed(log);
}

/** The error of a background process that ended too early, with its last line. */
export async function backgroundFailed(log: string | undefined): Promise<PerdureError> {
  const text = log === undefined ? '' : (await readFile(log, 'utf8')).trimEnd();
  const last = text.slice(text.lastIndexOf('\n') + 1) || 'the background process ended before it answered';
  return new PerdureError('BACKGROUND_FAILED', `${last}${log === undefined ? '' : ` (log: ${log})`}; the run is kept`, 1);
}

/** True while the folder has a background process that takes new work. */
export async function hasBackground(stateDir: string): Promise<boolean> {
  return (await livePresences(backgroundFolder(stateDir))).length > 0;
}

const POLL_MS = 20;

/** The descriptor of the environment, behind the standard ones. */
const ENVIRONMENT = 3;

function backgroundFolder(stateDir: string): string {
  return join(stateFolder(stateDir).dir, 'background');
}

function placeArguments({ address, namespace, taskQueue }: PlaceOptions): string[] {
  return [
    ...(address === undefined ? [] : ['--address', address]),
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...(taskQueue === undefined ? [] : ['--task-queue', taskQueue]),
  ];
}
