import { HOSTING_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import type { ConnectedWorker } from '../../worker/connect-worker.js';
import type { SupervisorLink } from '../../worker/supervisor/supervisor-link.js';
import type { Place } from './workplace.js';

/** A worker that runs in the process of this command. */
export interface HostedWorker {
  /** Resolves when the queue has a worker, in this process or in the process that holds the lock. Rejects if hosting failed. */
  readonly ready: Promise<void>;
  /** Resolves when this process no longer hosts a worker. Rejects if its worker failed. */
  readonly ended: Promise<void>;
  /** Stops polling and waits for running calls, which it reports. */
  stop(): Promise<void>;
}

/** Options of `hostWorker`. */
export interface HostOptions {
  readonly place: Place;
  readonly config: LoadedConfig;
  readonly say: (line: string) => void;
  /** The supervisor of this process. @default none */
  readonly link?: SupervisorLink | undefined;
  /** Aborted by SIGTERM. Calls that still run `graceMs` later are aborted. Without it, running calls end in their own time. */
  readonly terminated: AbortSignal;
  /** Time for running calls after SIGTERM, in milliseconds. @default 30 s */
  readonly graceMs?: number;
  /** True if the embedded server takes starts and approvals of every user of this machine. @default false */
  readonly takesUnsigned?: boolean;
}

/** Hosts a worker for the task queue. The embedded server has one worker per folder; a configured server may have many. */
export async function hostWorker(options: HostOptions): Promise<HostedWorker> {
  return options.place.location.kind === 'embedded' ? await hostFolderWorker(options) : await hostOneMoreWorker(options);
}

/** Prints a notice if the worker of the folder runs with a different configuration than this command. */
export async function sayIfOtherConfig({ place, config, say }: HostOptions): Promise<void> {
  if (place.location.kind !== 'embedded') return;
  const { currentHolder } = await import('../../worker/recovery/embedded-worker.js');
  const holder = await currentHolder(place.stateDir, say);
  if (!holder || holder.pid === process.pid || holder.configHash === config.hash) return;
  say(
    `CONFIG_DIFFERS: the worker for this folder runs in process ${holder.pid} with a different configuration or different keys. ` +
      `To use yours: kill ${holder.pid}, then start again`,
  );
}

async function hostFolderWorker(options: HostOptions): Promise<HostedWorker> {
  const { place, config, say, link } = options;
  const { stateDir, location, taskQueue, dataConverter } = place;
  const { hostEmbeddedWorker } = await import('../../worker/recovery/embedded-worker.js');
  const { newIdentityWithStore } = await import('../../worker/storage/queue-store.js');
  let connected: ConnectedWorker | undefined;
  const hosted = hostEmbeddedWorker({
    stateDir,
    server: location,
    taskQueue,
    configHash: config.hash,
    identity: await newIdentityWithStore(config, stateDir),
    dataConverter,
    say,
    async makeWorker(identity) {
      connected = await connect(options, { identity });
      return connected;
    },
  });
  whenReady(hosted, () => link?.reportWorking());
  return {
    ready: hosted.ready,
    ended: hosted.ended,
    async stop() {
      await hosted.stop();
      await connected?.close();
    },
  };
}

/** Hosts a worker on a configured server. It also polls the queue of its host, for workspace tools. */
async function hostOneMoreWorker(options: HostOptions): Promise<HostedWorker> {
  const { place, config, say, link } = options;
  const { stateDir, location, taskQueue, dataConverter } = place;
  const { connectionOptions, namespace } = location;
  const { hostSharedWorker } = await import('../../worker/supervisor/shared-worker.js');
  const hosted = hostSharedWorker({
    stateDir,
    server: { connectionOptions, namespace },
    taskQueue,
    dataConverter,
    connect: (identity) => connect(options, { identity, manyHosts: true }),
    say,
    link,
  });
  if (!config.config.artifacts)
    whenReady(hosted, () => say(`large payloads are stored in ${stateDir}; all workers of queue ${taskQueue} must share this folder`));
  return hosted;
}

/** A failure is reported by `ended`. */
function whenReady({ ready }: Pick<HostedWorker, 'ready'>, then: () => void): void {
  void ready.then(then, () => undefined);
}

async function connect(
  { place, config, say, link, terminated, graceMs, takesUnsigned }: HostOptions,
  as: { readonly identity: string; readonly manyHosts?: boolean },
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
    requireSignatures: location.kind === 'embedded' && !takesUnsigned,
    heartbeatTimeoutMs: config.config.limits?.heartbeatTimeoutMs ?? defaultHeartbeatTimeoutMs(place, link),
    say,
    ...(link && { overrides: { interceptors: { activity: [link.reportActivities] } } }),
    terminated,
    ...(graceMs === undefined ? {} : { graceMs }),
    ...as,
  });
}

/** The heartbeat timeout of a worker, by who proves the death of its process: the state folder, the supervisor, or nobody. */
function defaultHeartbeatTimeoutMs({ location }: Place, link: SupervisorLink | undefined): number {
  if (location.kind === 'embedded') return HOSTING_LIMITS.embeddedHeartbeatTimeoutMs;
  return link ? HOSTING_LIMITS.supervisedHeartbeatTimeoutMs : WORKER_LIMITS.heartbeatTimeoutMs;
}
