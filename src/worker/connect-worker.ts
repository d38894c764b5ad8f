import { join } from 'node:path';
import { makeTelemetryFilterString, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import type { TemporalConnectionOptions } from './connect/check-connection.js';
import { type CreateWorkerOptions, createHostWorker, createWorker } from './create-worker.js';
import { stateFolder } from './state-folder/state-folder.js';
import { createWorkerLog } from './worker-log.js';

/** A worker and the connection that was opened for it. */
export interface ConnectedWorker {
  readonly worker: Worker;
  /** Polls this host's own queue for workspace tools and child processes, where several hosts share a queue. */
  readonly hostWorker?: Worker;
  /** Closes the connection; call it once the worker's `run` has ended. */
  close(): Promise<void>;
}

/** Options of `connectWorker`: those of `createWorker`, with how to connect in place of the connection. */
export interface ConnectWorkerOptions extends Omit<CreateWorkerOptions, 'connection'> {
  readonly connectionOptions: TemporalConnectionOptions;
}

/** Connects and makes a worker for a process of ours. The SDK logs to a file of the state folder. */
export async function connectWorker({ connectionOptions, ...options }: ConnectWorkerOptions): Promise<ConnectedWorker> {
  installRuntime(options);
  const { tls, ...rest } = connectionOptions;
  const connection = await NativeConnection.connect({ ...rest, ...(tls === undefined ? {} : { tls }) });
  try {
    const worker = await createWorker({ ...options, connection });
    const own = options.manyHosts ? { hostWorker: await createHostWorker({ ...options, connection }) } : {};
    return { worker, ...own, close: () => connection.close() };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

let installed = false;

/** A process has one runtime, and it is set before its first use. Signals are ours to handle: a shutdown must give the lock back. */
function installRuntime({ stateDir, say = () => undefined }: Pick<CreateWorkerOptions, 'stateDir' | 'say'>): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: createWorkerLog(join(stateFolder(stateDir).logs, 'worker.log'), say),
    // without `forward` the SDK's core writes its warnings to stdout, where only results belong
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
    shutdownSignals: [],
  });
}
