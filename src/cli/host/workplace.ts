import { existsSync } from 'node:fs';
import { AgentClient } from '../../client/agent-client.js';
import { DEFAULT_TASK_QUEUE } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { FileStreamSource } from '../../streams/file-stream-source.js';
import type { StreamSource } from '../../streams/stream.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import { locateTemporal, type TemporalLocation } from '../../worker/connect/locate-temporal.js';
import { openAuthKey } from '../../worker/state-folder/auth-key.js';
import { resolveStateDir, stateFolder } from '../../worker/state-folder/state-folder.js';
import { type BlobStore, lazyStore, storeOfClient } from '../../worker/storage/blob-store.js';
import type { ClientQueue } from '../../worker/storage/client-store.js';
import { createPayloadConverter, type LargePayloadConverter } from '../../worker/storage/payload-converter.js';
import { loadConfigHere } from './load-config.js';

/** The options of every command that connects to Temporal. */
export interface PlaceOptions {
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
}

/** The options of a command that can choose the port of the embedded server. */
export interface PlaceWithPortOptions extends PlaceOptions {
  readonly port?: number | undefined;
}

/** The Temporal server of this folder, and a client connected to it. */
export interface Place {
  readonly location: TemporalLocation;
  readonly client: AgentClient;
  /** The tokens of the workers. */
  readonly streams: StreamSource;
  readonly stateDir: string;
  readonly taskQueue: string;
  /** For the clients of this folder. Stores large payloads where its workers do. */
  readonly dataConverter: LargePayloadConverter;
  /** The URL of a run in the Temporal Web UI. Undefined if the address of the Web UI is unknown. */
  runUrl(runId: string): string | undefined;
  /** True if the queue has a worker. Exact on the embedded server; on a configured server, true if the queue was polled recently. */
  hasWorker(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Finds the server, or starts the embedded one, and connects. Throws as `locateTemporal` does. Without a config, the one of this folder is
 * loaded when a payload is too large for the server.
 */
export async function openPlace(options: PlaceWithPortOptions, say: (line: string) => void, config?: LoadedConfig): Promise<Place> {
  return await open(options, { say, allowEmbedded: true, config });
}

/** Like `openPlace`, for commands that need an existing run. Undefined if the folder has no server and none is configured, so that no empty one is started. */
export async function openPlaceIfThere(
  options: PlaceOptions,
  say: (line: string) => void,
  config?: LoadedConfig,
): Promise<Place | undefined> {
  const hasOwnServer = existsSync(stateFolder(resolveStateDir()).database);
  return await open(options, { say, allowEmbedded: hasOwnServer, config }).catch((error: unknown) => {
    const isUnconfigured = error instanceof PerdureError && error.code === 'TEMPORAL_ADDRESS' && options.address === undefined;
    if (!isUnconfigured || process.env.TEMPORAL_ADDRESS) throw error;
    return undefined;
  });
}

interface Opening {
  readonly say: (line: string) => void;
  readonly allowEmbedded: boolean;
  readonly config: LoadedConfig | undefined;
}

async function open(options: PlaceWithPortOptions, { say, allowEmbedded, config }: Opening): Promise<Place> {
  const stateDir = resolveStateDir();
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  const location = await locateTemporal({
    ...(options.address === undefined ? {} : { address: options.address }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    taskQueue,
    stateDir,
    port: options.port,
    say,
    allowEmbedded,
  });
  try {
    const { authKey } = stateFolder(stateDir);
    // the first start may be sent before the first worker needs the key
    if (location.kind === 'embedded') await openAuthKey(authKey);
    const dataConverter = createPayloadConverter(clientStore({ stateDir, server: location, taskQueue }, config));
    const streams = await openStreams(config, { stateDir, say });
    const { namespace, connectionOptions } = location;
    const client = await AgentClient.connect({
      ...connectionOptions,
      namespace,
      taskQueue,
      dataConverter,
      ...(location.kind === 'embedded' ? { stateDir } : {}),
      streams,
    });
    return {
      location,
      client,
      streams,
      stateDir,
      taskQueue,
      dataConverter,
      runUrl: (runId) => runUrl(location, runId),
      hasWorker: () => hasWorker({ location, client, stateDir, say }),
      async close() {
        await client.close();
        await location.close();
      },
    };
  } catch (error) {
    await location.close();
    throw error;
  }
}

function clientStore(queue: ClientQueue, config: LoadedConfig | undefined): BlobStore {
  // a copy: loading a config removes the keys, which the environment of a background process needs
  const env = config ? {} : { ...process.env };
  const openStore = async (): Promise<BlobStore> => {
    const { openClientStore } = await import('../../worker/storage/client-store.js');
    return openClientStore(config ?? (await loadConfigHere(env)), queue);
  };
  return storeOfClient(lazyStore(openStore));
}

async function openStreams(
  config: LoadedConfig | undefined,
  options: { readonly stateDir: string; readonly say: (line: string) => void },
): Promise<StreamSource> {
  if (!config?.config.streams) return new FileStreamSource({ folder: stateFolder(options.stateDir).streams });
  // loads the client of Redis, which most configs do not need
  const { streamSource } = await import('../../worker/storage/stream-source.js');
  return streamSource(config, options);
}

interface WorkerQuestion extends Pick<Place, 'location' | 'client' | 'stateDir'> {
  readonly say: (line: string) => void;
}

async function hasWorker({ location, client, stateDir, say }: WorkerQuestion): Promise<boolean> {
  if (location.kind === 'configured') return await client.hasPoller();
  // imported here, because it loads zod and the lock, which most commands do not need
  const { currentHolder } = await import('../../worker/recovery/embedded-worker.js');
  return (await currentHolder(stateDir, say)) !== undefined;
}

function runUrl({ uiUrl, namespace }: TemporalLocation, runId: string): string | undefined {
  if (uiUrl === undefined) return undefined;
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(runId)}`;
}

/** The error for a run when no server is configured and the folder never had one. */
export function noSuchRun(runId: string): PerdureError {
  return new PerdureError(
    'RUN_NOT_FOUND',
    `no run ${echoValue(runId)}: this folder has no runs and no server is configured; set TEMPORAL_ADDRESS or --address`,
    3,
  );
}

/** The error for a session when no server is configured and the folder never had one. */
export function noSuchSession(key: string): PerdureError {
  return new PerdureError(
    'NO_SESSION',
    `no session ${echoValue(key)}: this folder has no sessions and no server is configured; set TEMPORAL_ADDRESS or --address`,
    3,
  );
}
