import type { LoadedConfig } from '../../worker/config/load-config.js';
import { hostWorker, sayIfOtherConfig } from './host-worker.js';
import type { Place } from './workplace.js';

/** What to serve. Without a config nothing is hosted. */
export interface Serving {
  readonly place: Place;
  readonly config: LoadedConfig | undefined;
  readonly say: (line: string) => void;
}

/**
 * Does something while a worker is hosted: always for the folder's own server, elsewhere only when nobody polls the queue. The worker stops
 * when the work ends, and a worker that fails ends the work. `ready` tells the work when somebody answers queries. Rejects as the work does.
 */
export async function serveWhile<T>({ place, config, say }: Serving, work: (ready: Promise<void>) => Promise<T>): Promise<T> {
  const needed = config !== undefined && (place.location.kind === 'embedded' || !(await place.hasWorker()));
  if (!needed) return await work(Promise.resolve());
  await sayIfOtherConfig({ place, config, say });
  const hosted = await hostWorker({ place, config, say });
  try {
    return await Promise.race([work(hosted.ready), failing(hosted.ended)]);
  } finally {
    await hosted.stop();
  }
}

/** Never resolves; rejects when the worker fails. A worker that stopped in order is no end of the work. */
async function failing(ended: Promise<void>): Promise<never> {
  await ended;
  return await new Promise<never>(() => {
    // settled by the other side of the race
  });
}
