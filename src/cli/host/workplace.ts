import { existsSync } from 'node:fs';
import { AgentClient } from '../../client/agent-client.js';
import { DEFAULT_TASK_QUEUE } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { FileStreamSource } from '../../streams/file-stream-source.js';
import { locateTemporal, type TemporalLocation } from '../../worker/connect/locate-temporal.js';
import { createDataConverter } from '../../worker/data-converter.js';
import { resolveStateDir, stateFolder } from '../../worker/state-folder/state-folder.js';

/** The options of every verb that talks to Temporal. */
export interface PlaceOptions {
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
}

/** The Temporal server this folder works with, and a client on it. */
export interface Place {
  readonly location: TemporalLocation;
  readonly client: AgentClient;
  readonly stateDir: string;
  readonly taskQueue: string;
  /** The same for clients and workers of this folder: large inputs go to its files. */
  readonly dataConverter: ReturnType<typeof createDataConverter>;
  /** The run in the Temporal Web UI, when its address is known. */
  runUrl(runId: string): string | undefined;
  /** Whether somebody works on this queue: exact for the folder's own server, lately polled for any other. */
  hasWorker(): Promise<boolean>;
  close(): Promise<void>;
}

/** Finds the server, or starts the folder's own, and connects. Throws as `locateTemporal` does. */
export async function openPlace(options: PlaceOptions, say: (line: string) => void): Promise<Place> {
  return await open(options, say, true);
}

/** Like `openPlace`, for verbs that only look: undefined where there is nothing to look at, so that no empty server is started for it. */
export async function openPlaceIfThere(options: PlaceOptions, say: (line: string) => void): Promise<Place | undefined> {
  const hasOwnServer = existsSync(stateFolder(resolveStateDir()).database);
  return await open(options, say, hasOwnServer).catch((error: unknown) => {
    const nothingNamed = error instanceof PerdureError && error.code === 'TEMPORAL_ADDRESS' && options.address === undefined;
    if (!nothingNamed || process.env.TEMPORAL_ADDRESS) throw error;
    return undefined;
  });
}

async function open(options: PlaceOptions, say: (line: string) => void, allowEmbedded: boolean): Promise<Place> {
  const stateDir = resolveStateDir();
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  const location = await locateTemporal({
    ...(options.address === undefined ? {} : { address: options.address }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    taskQueue,
    stateDir,
    say,
    allowEmbedded,
  });
  try {
    const { streams, artifacts } = stateFolder(stateDir);
    const dataConverter = createDataConverter({ artifactsDir: artifacts });
    const { namespace, connectionOptions } = location;
    const client = await AgentClient.connect({
      ...connectionOptions,
      namespace,
      taskQueue,
      dataConverter,
      streams: new FileStreamSource({ folder: streams }),
    });
    return {
      location,
      client,
      stateDir,
      taskQueue,
      dataConverter,
      runUrl: (runId) => runUrl(location, runId),
      hasWorker: () => hasWorker(location, client, stateDir),
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

async function hasWorker(location: TemporalLocation, client: AgentClient, stateDir: string): Promise<boolean> {
  if (location.kind === 'configured') return await client.hasPoller();
  // loaded here, because it brings zod and the lock with it, which most commands need not
  const { currentHolder } = await import('../../worker/recovery/embedded-worker.js');
  return (await currentHolder(stateDir)) !== undefined;
}

function runUrl({ uiUrl, namespace }: TemporalLocation, runId: string): string | undefined {
  if (uiUrl === undefined) return undefined;
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(runId)}`;
}

/** There is neither a server to ask nor a folder that ever had one. */
export function noSuchRun(runId: string): PerdureError {
  return new PerdureError('RUN_NOT_FOUND', `no run ${echoValue(runId)}: this folder has no runs, and no Temporal server is named`, 3);
}
