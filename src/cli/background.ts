import { spawn } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeScript } from '../worker/node-script.js';
import { announcePresence, livePresences, type Presence } from '../worker/presence.js';
import { stateFolder } from '../worker/state-folder.js';
import type { PlaceOptions } from './place.js';

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

/** The background process of this folder: the one that is there, or a new one in its own process group that outlives this command. */
export async function ensureBackground(stateDir: string, options: PlaceOptions): Promise<Background> {
  const [there] = await livePresences(backgroundFolder(stateDir));
  return there ? { pid: there.pid } : await spawnBackground(stateDir, options);
}

async function spawnBackground(stateDir: string, options: PlaceOptions): Promise<Background> {
  const { logs } = stateFolder(stateDir);
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const log = join(logs, `dev-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}.log`);
  const file = await open(log, 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...nodeScript(import.meta.url, 'main'), 'dev', '--until-idle', ...placeArguments(options)], {
      detached: true,
      stdio: ['ignore', file.fd, file.fd],
      env: { ...process.env, PERDURE_DIR: stateDir },
    });
    child.unref();
    if (child.pid === undefined) throw new Error('the background process could not be started');
    return { pid: child.pid, log };
  } finally {
    await file.close();
  }
}

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
