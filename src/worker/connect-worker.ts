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
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { redact } from '../contracts/text/redact.js';
import type { SecretMask } from '../contracts/text/secret-mask.js';
import { workerSecrets } from '../providers/access/worker-secrets.js';
import type { TemporalConnectionOptions } from './connect/check-connection.js';
import { type CreateWorkerOptions, createHostWorker, createWorker } from './create-worker.js';
import { stateFolder } from './state-folder/state-folder.js';

/** A worker and its connection. */
export interface ConnectedWorker {
  readonly worker: Worker;
  /** Polls the queue of this host for workspace tools and child processes, if several hosts share a task queue. */
  readonly hostWorker?: Worker;
  /** Closes the connection; call it once the worker's `run` has ended. */
  close(): Promise<void>;
}

/** Options of `connectWorker`: those of `createWorker`, with connection options instead of a connection. */
export interface ConnectWorkerOptions extends Omit<CreateWorkerOptions, 'connection'> {
  readonly connectionOptions: TemporalConnectionOptions;
}

/** Connects and creates a worker for the command line. The SDK logs to a file in the state folder. */
export async function connectWorker({ connectionOptions, ...options }: ConnectWorkerOptions): Promise<ConnectedWorker> {
  installRuntime(options);
  const { tls, ...rest } = connectionOptions;
  const connection = await NativeConnection.connect({
    ...rest,
    ...(tls === undefined ? {} : { tls }),
    // what fits is no reason for a warning
    payloadLimits: { payloadsWarnSize: PAYLOAD_LIMITS.externalBytesMin },
  });
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

/** Installs the runtime of the process, before its first use. The SDK must not handle signals, because a shutdown releases the folder lock. */
function installRuntime({ stateDir, config, say = () => undefined }: Pick<CreateWorkerOptions, 'stateDir' | 'config' | 'say'>): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: createWorkerLog(join(stateFolder(stateDir).logs, 'worker.log'), {
      say,
      secrets: workerSecrets({ keys: config.keys, env: process.env }),
    }),
    // without `forward`, the SDK core writes its warnings to stdout, which is reserved for results
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
    shutdownSignals: [],
  });
}

/**
 * Writes warnings and errors of the SDK as JSON lines to a file, because the events of the run report most of them. Errors are also
 * printed as one line. Known secrets are masked.
 */
function createWorkerLog(file: string, { say, secrets }: { readonly say: (line: string) => void; readonly secrets: SecretMask }): Logger {
  const shown = (text: string): string => redact(secrets.text(text));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return new DefaultLogger('WARN', (entry) => {
    appendFileSync(file, `${shown(JSON.stringify(plain(entry)))}\n`, { mode: 0o600 });
    if (entry.level === 'ERROR') say(`Temporal worker: ${shown(entry.message)} (details in ${file})`);
  });
}

function plain({ level, message, timestampNanos, meta }: LogEntry): object {
  const error: unknown = meta?.['error'];
  const shown = error instanceof Error ? { error: `${error.name}: ${error.message}`, stack: error.stack } : {};
  return { at: new Date(Number(timestampNanos / 1_000_000n)).toISOString(), level, message, ...meta, ...shown };
}
