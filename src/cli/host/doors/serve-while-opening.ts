import type { LoadedConfig } from '../../../worker/config/load-config.js';
import { say } from '../../display/output.js';
import { ensureBackground } from '../background.js';
import type { CliContext } from '../context.js';
import { serveWhile } from '../serve.js';
import { openPlace, type Place, type PlaceOptions } from '../workplace.js';

/** The Temporal server of a door. */
export interface Opened {
  readonly place: Place;
  /** Makes sure that open runs continue when this process ends. */
  readonly keepRunning: () => Promise<void>;
}

/** What a server gets that answers before Temporal is there. */
export interface OpeningDoor {
  /** The Temporal server, which may still be starting. */
  readonly opening: Promise<Opened>;
  /** Resolves once a worker answers queries. */
  readonly ready: Promise<void>;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/** Options of `serveWhileOpening`. */
export interface OpeningOptions {
  readonly options: PlaceOptions & { /** False with `--no-worker`. */ readonly worker: boolean };
  readonly config: LoadedConfig;
  /** The environment of a process in the background, with the keys. */
  readonly env: NodeJS.ProcessEnv;
  readonly context: CliContext;
}

/**
 * Serves a client at once, while the Temporal server and a worker start; hosts the worker as `run` does. Resolves when `serve` has ended, and
 * rejects if it, the server or the worker fails.
 */
export async function serveWhileOpening(
  { options, config, env, context }: OpeningOptions,
  serve: (door: OpeningDoor) => Promise<void>,
): Promise<void> {
  const tell = (line: string): void => say(context.output, line);
  const opening = openHosting({ options, config, env, context });
  const ready = new Deferred();
  const stop = new AbortController();
  const signal = AbortSignal.any([context.interrupts.signal, stop.signal]);
  const serving = serve({ opening, ready: ready.promise, signal });
  // awaited below, once the Temporal server is there
  serving.catch(() => undefined);
  try {
    const { place, hosts } = await opening;
    try {
      const hosting = { place, config: hosts ? config : undefined, say: tell, terminated: context.interrupts.terminated };
      await serveWhile(hosting, async (working) => {
        void working.then(ready.resolve, () => undefined);
        await serving;
      });
    } finally {
      await place.close();
    }
  } finally {
    stop.abort();
    await serving.catch(() => undefined);
  }
}

interface Hosting extends Opened {
  /** True if this process hosts a worker. */
  readonly hosts: boolean;
}

async function openHosting({ options, config, env, context }: OpeningOptions): Promise<Hosting> {
  const { worker, address, namespace, taskQueue } = options;
  const where: PlaceOptions = {
    ...(address === undefined ? {} : { address }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
  };
  const place = await openPlace(where, (line) => say(context.output, line), config);
  const hosts = worker && (place.location.kind === 'embedded' || !(await place.hasWorker()));
  return {
    place,
    hosts,
    async keepRunning() {
      if (hosts) await ensureBackground(place.stateDir, where, env);
    },
  };
}

/** A promise that is resolved from outside. */
class Deferred {
  resolve: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}
