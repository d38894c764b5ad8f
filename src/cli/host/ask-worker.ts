import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import { type Background, backgroundFailed, ensureBackground, hasBackground } from './background.js';
import type { CliContext } from './context.js';
import type { Place, PlaceOptions } from './workplace.js';

/** Time after which a new worker counts as failed, on a slow machine too. It loads the config and the workflow code before it answers. */
const START_MS_MAX = 120_000;

/** Pause between two requests. A server that has seen no worker yet refuses at once. */
const PAUSE_MS = 200;

/** A wait that is longer is told. */
const SILENT_MS_MAX = 5_000;

/** How a request waits for a worker. */
export interface WorkerWait {
  /** Receives one line if the wait is long. */
  readonly tell: (line: string) => void;
  /** Ends the wait: the request fails with its last error. @default it is not ended */
  readonly signal?: AbortSignal | undefined;
  /** Ensures before each further request that there is a worker to wait for. @default does nothing */
  readonly ensure?: () => Promise<void>;
}

/**
 * Repeats a request until a worker answers it; it must have one effect however often it is sent. Throws `NO_WORKER` (5) after 2 minutes, on
 * a configured server at once.
 */
export async function askWorker<Answer>(place: Place, ask: () => Promise<Answer>, { tell, signal, ensure }: WorkerWait): Promise<Answer> {
  const startedAt = Date.now();
  let isTold = false;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const waitedMs = Date.now() - startedAt;
      const isRepeated = error instanceof PerdureError && error.code === 'NO_WORKER' && place.location.kind === 'embedded';
      if (!isRepeated || waitedMs > START_MS_MAX || signal?.aborted) throw error;
      if (!isTold && waitedMs > SILENT_MS_MAX) {
        isTold = true;
        tell(`no worker has answered yet; waiting for up to ${START_MS_MAX / 1_000} s`);
      }
      // an aborted wait asks a last time
      await delay(PAUSE_MS, undefined, { ...(signal && { signal }) }).catch(() => undefined);
      await ensure?.();
    }
  }
}

/**
 * Starts a worker in the background, and resolves with a check for `WorkerWait.ensure`: a worker that ended before it answered, such as one
 * that found nothing to do, is started once more; then the check throws `BACKGROUND_FAILED` (exit 1).
 */
export async function startBackground(place: Place, start: () => Promise<Background>): Promise<() => Promise<void>> {
  const first = await start();
  let second: Background | undefined;
  return async () => {
    if ((await place.hasWorker()) || (await hasBackground(place.stateDir))) return;
    if (second) throw await backgroundFailed(second.log ?? first.log);
    second = await start();
  };
}

/** A request that only a worker answers. It is repeated, so it must have one effect. */
export interface WorkerRequest<Answer> extends Pick<CliContext, 'interrupts'> {
  readonly ask: () => Promise<Answer>;
  readonly tell: (line: string) => void;
}

/**
 * Sends a request. On the embedded server, a worker is started in the background when none is running, and waited for. On a configured
 * server without a worker it throws `NO_WORKER` (5).
 */
export async function askOrStartWorker<Answer>(
  place: Place,
  where: PlaceOptions,
  { ask, tell, interrupts: { signal } }: WorkerRequest<Answer>,
): Promise<Answer> {
  const wait: WorkerWait = { tell, signal };
  if (place.location.kind === 'configured' || (await place.hasWorker())) return await askWorker(place, ask, wait);
  const ensure = await startBackground(place, async () => {
    const background = await ensureBackground(place.stateDir, where);
    tell(`process ${background.pid} answers in the background; stop it with: kill ${background.pid}`);
    return background;
  });
  return await askWorker(place, ask, { ...wait, ensure });
}
