import type { LoadedConfig } from '../../worker/config/load-config.js';
import type { ConnectedWorker } from '../../worker/connect-worker.js';
import type { Place } from './workplace.js';

/** A worker that lives as long as this command. */
export interface HostedWorker {
  /** Resolves when somebody serves the queue: this process, or another that goes before it. Rejects when hosting failed. */
  readonly ready: Promise<void>;
  /** Resolves when this process hosts no longer; rejects when its worker failed. */
  readonly ended: Promise<void>;
  /** Stops polling and lets running calls finish. */
  stop(): Promise<void>;
}

/** What hosting needs. */
export interface HostOptions {
  readonly place: Place;
  readonly config: LoadedConfig;
  readonly say: (line: string) => void;
}

/** Hosts a worker for this folder's queue: the one worker of the folder on its own server, one more on any other. */
export async function hostWorker(options: HostOptions): Promise<HostedWorker> {
  return options.place.location.kind === 'embedded' ? await hostFolderWorker(options) : await hostOneMoreWorker(options);
}

/** Says when the folder's worker runs with another configuration than this command would, and how to change that. */
export async function sayIfOtherConfig({ place, config, say }: HostOptions): Promise<void> {
  if (place.location.kind !== 'embedded') return;
  const { currentHolder } = await import('../../worker/recovery/embedded-worker.js');
  const holder = await currentHolder(place.stateDir);
  if (!holder || holder.pid === process.pid || holder.configHash === config.hash) return;
  say(
    `CONFIG_DIFFERS: process ${holder.pid} hosts the worker of this folder with another configuration or other keys, and the run uses those; ` +
      `to use yours: kill ${holder.pid}, then start again`,
  );
}

async function hostFolderWorker(options: HostOptions): Promise<HostedWorker> {
  const { place, config, say } = options;
  const { stateDir, location, taskQueue, dataConverter } = place;
  const { hostEmbeddedWorker } = await import('../../worker/recovery/embedded-worker.js');
  let connected: ConnectedWorker | undefined;
  const hosted = hostEmbeddedWorker({
    stateDir,
    server: location,
    taskQueue,
    configHash: config.hash,
    dataConverter,
    say,
    async makeWorker(identity) {
      connected = await connect(options, { identity });
      return connected.worker;
    },
  });
  return {
    ready: hosted.ready,
    ended: hosted.ended,
    async stop() {
      await hosted.stop();
      await connected?.close();
    },
  };
}

/** On a server of its own a queue may have workers on many hosts: this one also polls its host's queue, for tools in its folders. */
async function hostOneMoreWorker(options: HostOptions): Promise<HostedWorker> {
  options.say(
    `large payloads are kept in ${options.place.stateDir}: all workers of queue ${options.place.taskQueue} must share that folder`,
  );
  const connected = await connect(options, { manyHosts: true });
  const workers = [connected.worker, connected.hostWorker].filter((worker) => worker !== undefined);
  const ended = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  return {
    ready: Promise.resolve(),
    ended,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
      await connected.close();
    },
  };
}

async function connect(
  { place, config, say }: HostOptions,
  as: { readonly identity?: string; readonly manyHosts?: boolean },
): Promise<ConnectedWorker> {
  const { connectWorker } = await import('../../worker/connect-worker.js');
  const { location, taskQueue, stateDir } = place;
  const { connectionOptions, namespace } = location;
  return await connectWorker({
    connectionOptions,
    namespace,
    taskQueue,
    config,
    stateDir,
    say,
    ...as,
  });
}
