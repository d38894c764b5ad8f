import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import { nodeScript } from '../../worker/dev-server/launch.js';
import { withFolderLock } from '../../worker/state-folder/folder-lock.js';
import { announcePresence, livePresences, type Presence } from '../../worker/state-folder/presence.js';
import { stateFolder } from '../../worker/state-folder/state-folder.js';
import type { PlaceOptions } from './workplace.js';

/** A process in the background that works until the folder has no open run. */
export interface Background {
  readonly pid: number;
  /** Where it writes; undefined for one that was there already. */
  readonly log?: string;
}

/** Says that this process works until the folder is idle, so that `start` need not begin another. */
export async function announceBackground(stateDir: string): Promise<Presence> {
  return await announcePresence(backgroundFolder(stateDir));
}

/**
 * The background process of this folder: the one that is there, or a new one in its own process group that outlives this command. Several
 * commands at once share one. Throws `BACKGROUND_FAILED` (exit 1) when the new one ends before it is at work.
 */
export async function ensureBackground(stateDir: string, options: PlaceOptions): Promise<Background> {
  return await withFolderLock(join(stateFolder(stateDir).dir, 'background.lock'), {}, async () => {
    const [there] = await livePresences(backgroundFolder(stateDir));
    return there ? { pid: there.pid } : await spawnBackground(stateDir, options);
  });
}

async function spawnBackground(stateDir: string, options: PlaceOptions): Promise<Background> {
  const { logs } = stateFolder(stateDir);
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const log = join(logs, `dev-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}.log`);
  const file = await open(log, 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...nodeScript(import.meta.url, '../main'), 'dev', '--until-idle', ...placeArguments(options)], {
      detached: true,
      stdio: ['ignore', file.fd, file.fd],
      env: { ...process.env, PERDURE_DIR: stateDir },
    });
    await untilAtWork(child, { stateDir, log });
    child.unref();
    // a process that announced itself has a pid
    return { pid: child.pid ?? 0, log };
  } finally {
    await file.close();
  }
}

/** Waits until the new process has announced itself, so that the next command finds it. */
async function untilAtWork(child: ChildProcess, { stateDir, log }: { stateDir: string; log: string }): Promise<void> {
  // without it a failure to spawn would end this process; it shows as the missing pid
  child.on('error', () => undefined);
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    if ((await livePresences(backgroundFolder(stateDir))).some(({ pid }) => pid === child.pid)) return;
    await delay(POLL_MS);
  }
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
  throw new PerdureError('BACKGROUND_FAILED', `${lines.at(-1) ?? 'it ended at once'} (log in ${log}); the run is kept`, 1);
}

const POLL_MS = 20;

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
