import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { ensureBackground } from './background.js';
import type { Place } from './workplace.js';

/** A worker that starts in the background loads the config and the workflow code before it answers. */
const WORKER_TRIES_MAX = 12;

/**
 * Sees to it that somebody answers for an open run: in this folder a worker is started in the background when none is alive, and waited for.
 * Elsewhere workers are started by others. Throws `NO_WORKER` (5) when the new one does not answer.
 */
export async function wakeWorker(place: Place, run: RunHandle, tell: (line: string) => void): Promise<void> {
  if (place.location.kind === 'configured' || (await place.hasWorker())) return;
  // a closed run or one that is not there needs no worker to be refused
  if (!(await run.describe()).open) return;
  await startWorker(place, tell);
  for (let tries = 1; !(await answers(run, tries)); tries += 1);
}

async function answers(run: RunHandle, tries: number): Promise<boolean> {
  try {
    await run.progress();
    return true;
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER' || tries >= WORKER_TRIES_MAX) throw error;
    return false;
  }
}

/** On the embedded server, starts a worker in the background: a run that is steered or resumed should continue. */
export async function startWorker(place: Place, tell: (line: string) => void): Promise<void> {
  if (place.location.kind === 'configured') return sayNoWorker(place, tell);
  const { pid } = await ensureBackground(place.stateDir, { taskQueue: place.taskQueue });
  tell(`No worker was running for this folder. Process ${pid} continues the run in the background; stop it with: kill ${pid}`);
}

/** The server keeps a signal until a worker connects. */
export function sayNoWorker(place: Place, tell: (line: string) => void): void {
  tell(`No worker polls the task queue ${place.taskQueue}. This takes effect once a worker connects.`);
}
