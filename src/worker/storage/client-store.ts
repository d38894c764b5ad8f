import type { LoadedConfig } from '../config/load-config.js';
import type { TemporalConnectionOptions } from '../connect/check-connection.js';
import type { BlobStore } from './blob-store.js';
import { type PayloadStore, payloadStoreOf } from './payload-store.js';
import { checkQueueStore, identityWithStore } from './queue-store.js';

/** The queue to which a client sends large payloads. */
export interface ClientQueue {
  readonly stateDir: string;
  readonly server: { readonly connectionOptions: TemporalConnectionOptions; readonly namespace: string };
  readonly taskQueue: string;
}

/**
 * The store of large payloads of a client with a config. Before it stores one, it checks that the workers of the queue have the same store:
 * `put` throws PerdureError `STORE_DIFFERS` (2), before anything is sent that no worker could read.
 */
export function openClientStore(config: LoadedConfig, queue: ClientQueue): BlobStore {
  const store = payloadStoreOf(config, queue.stateDir);
  return {
    get: (ref) => store.blobs.get(ref),
    async put(bytes) {
      await checkWorkers(store, queue);
      return await store.blobs.put(bytes);
    },
  };
}

async function checkWorkers(store: PayloadStore, { server, taskQueue }: ClientQueue): Promise<void> {
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect(server.connectionOptions);
  try {
    const identity = identityWithStore('client', await store.id());
    await checkQueueStore({ connection, namespace: server.namespace, taskQueue, identity, place: store.place });
  } finally {
    await connection.close();
  }
}
