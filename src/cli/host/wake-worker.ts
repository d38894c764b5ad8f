import type { RunHandle } from '../../client/run-handle.js';
import { askWorker, startBackground, type WorkerWait } from './ask-worker.js';
import { type Background, ensureBackground } from './background.js';
import type { Place } from './workplace.js';

/**
 * Ensures that an open run has a worker. On the embedded server, starts one in the background if none is running, and waits for it.
 * On a configured server, does nothing. Throws `NO_WORKER` (5) if the new worker does not answer.
 */
export async function wakeWorker(place: Place, run: RunHandle, wait: Omit<WorkerWait, 'ensure'>): Promise<void> {
  if (place.location.kind === 'configured' || (await place.hasWorker())) return;
  // a closed or missing run is rejected without a worker
  if (!(await run.describe()).open) return;
  const ensure = await startBackground(place, () => continueRun(place, wait.tell));
  await askWorker(place, () => run.progress(), { ...wait, ensure });
}

/** On the embedded server, starts a worker in the background: a run that is steered or resumed should continue. */
export async function startWorker(place: Place, tell: (line: string) => void): Promise<void> {
  if (place.location.kind === 'configured') sayNoWorker(place, tell);
  else await continueRun(place, tell);
}

async function continueRun(place: Place, tell: (line: string) => void): Promise<Background> {
  const background = await ensureBackground(place.stateDir, { taskQueue: place.taskQueue });
  tell(`no worker was running; process ${background.pid} continues the run in the background, stop it with: kill ${background.pid}`);
  return background;
}

/** The server keeps a signal until a worker connects. */
export function sayNoWorker(place: Place, tell: (line: string) => void): void {
  tell(`no worker polls queue ${place.taskQueue}; the request takes effect once a worker connects`);
}
