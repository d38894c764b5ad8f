import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  DefaultLogger,
  type LogEntry,
  type Logger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  type Worker,
} from '@temporalio/worker';
import { redact } from '../contracts/text/redact.js';
import type { TemporalConnectionOptions } from './connect/check-connection.js';
import { type CreateWorkerOptions, createHostWorker, createWorker } from './create-worker.js';
import { stateFolder } from './state-folder/state-folder.js';

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

/**
 * The SDK's log of a process of ours: warnings and errors as JSON lines in a file, since most of them are told in the run's own events
 * already. What the SDK calls an error is also said in one line.
 */
function createWorkerLog(file: string, say: (line: string) => void): Logger {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return new DefaultLogger('WARN', (entry) => {
    appendFileSync(file, `${redact(JSON.stringify(plain(entry)))}\n`, { mode: 0o600 });
    if (entry.level === 'ERROR') say(`Temporal worker: ${redact(entry.message)} (details in ${file})`);
  });
}

function plain({ level, message, timestampNanos, meta }: LogEntry): object {
  const error: unknown = meta?.['error'];
  const shown = error instanceof Error ? { error: `${error.name}: ${error.message}`, stack: error.stack } : {};
  return { at: new Date(Number(timestampNanos / 1_000_000n)).toISOString(), level, message, ...meta, ...shown };
}
