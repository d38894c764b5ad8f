import type { LoadedConfig } from '../../worker/config/load-config.js';
import { hostWorker, sayIfOtherConfig } from './host-worker.js';
import type { Place } from './workplace.js';

/** Options of `serveWhile`. Without a config, no worker is hosted. */
export interface Serving {
  readonly place: Place;
  readonly config: LoadedConfig | undefined;
  readonly say: (line: string) => void;
  /** Aborted by SIGTERM. */
  readonly terminated: AbortSignal;
  /** Time for running calls after SIGTERM, in milliseconds. @default 30 s */
  readonly graceMs?: number;
}

/**
 * Runs `work` while a worker is hosted: always on the embedded server, on a configured server only if no worker polls the queue.
 * `ready` resolves once a worker answers queries. The worker stops polling after `work`, and its running calls end in their own time. Rejects if `work` rejects or the worker fails.
 */
export async function serveWhile<T>({ place, config, ...others }: Serving, work: (ready: Promise<void>) => Promise<T>): Promise<T> {
  const needed = config !== undefined && (place.location.kind === 'embedded' || !(await place.hasWorker()));
  if (!needed) return await work(Promise.resolve());
  const hosting = { place, config, ...others };
  await sayIfOtherConfig(hosting);
  const hosted = await hostWorker(hosting);
  try {
    return await Promise.race([work(hosted.ready), failing(hosted.ended)]);
  } finally {
    await hosted.stop();
  }
}

/** Rejects if the worker fails. Never resolves, because a worker that stopped normally must not end the work. */
async function failing(ended: Promise<void>): Promise<never> {
  await ended;
  return await new Promise<never>(() => {
    // the other promise of the race settles
  });
}
