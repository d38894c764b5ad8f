import { join } from 'node:path';
import { makeTelemetryFilterString, NativeConnection, Runtime, type Worker, type WorkerOptions } from '@temporalio/worker';
import { HOST_PROCESS_LIMITS, PAYLOAD_LIMITS, WORKER_LIMITS } from '../contracts/constants/limits.js';
import { workerSecrets } from '../providers/access/worker-secrets.js';
import type { TemporalConnectionOptions } from './connect/check-connection.js';
import { type CreateWorkerOptions, createHostWorker, createWorker } from './create-worker.js';
import { receiveCallOutput } from './hosting/redirect-output.js';
import { RunningCalls } from './hosting/running-calls.js';
import { WorkerLog } from './hosting/worker-log.js';
import { stateFolder } from './state-folder/state-folder.js';
import { payloadStoreOf } from './storage/payload-store.js';
import { checkQueueStore } from './storage/queue-store.js';

/** A worker and its connection. */
export interface ConnectedWorker {
  readonly worker: Worker;
  /** The calls that it runs. */
  readonly calls: RunningCalls;
  /** Polls the queue of this host for workspace tools and child processes, if several hosts share a task queue. */
  readonly hostWorker?: Worker;
  /** Checks again that all workers of the queue have the same store. Throws PerdureError `STORE_DIFFERS` (2). */
  checkStore(): Promise<void>;
  /** Closes the connection; call it once the worker's `run` has ended. */
  close(): Promise<void>;
}

/** Options of `connectWorker`: those of `createWorker`, with connection options instead of a connection. */
export interface ConnectWorkerOptions extends Omit<CreateWorkerOptions, 'connection'> {
  readonly connectionOptions: TemporalConnectionOptions;
  /** Aborted when the process was asked from outside to end, such as by SIGTERM. Running calls are aborted 30 s later. */
  readonly terminated: AbortSignal;
  /** Time for calls after `terminated`, in milliseconds. @default 30 s */
  readonly graceMs?: number;
}

/**
 * Connects and creates a worker for the command line. The SDK logs to a file in the state folder. After `shutdown`, running calls end in
 * their own time, unless the process is asked to end.
 */
export async function connectWorker({ connectionOptions, terminated, graceMs, ...given }: ConnectWorkerOptions): Promise<ConnectedWorker> {
  const calls = new RunningCalls();
  const options = { ...given, overrides: hostedOverrides(calls, given.overrides) };
  abortAfterGrace(calls, { terminated, graceMs: graceMs ?? WORKER_LIMITS.shutdownGraceMs, say: given.say });
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
    const checkStore = (): Promise<void> => checkAgain(worker, { ...options, connection });
    return { worker, calls, ...own, checkStore, close: () => connection.close() };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function checkAgain(worker: Worker, { connection, config, stateDir, say }: CreateWorkerOptions): Promise<void> {
  const { identity, namespace, taskQueue } = worker.options;
  const { place } = payloadStoreOf(config, stateDir);
  await checkQueueStore({ connection, namespace, taskQueue, identity, place, say });
}

/** The SDK fixes the grace time of a worker at its creation, so it is long here, and `RunningCalls` aborts calls that have less time. */
function hostedOverrides(calls: RunningCalls, given: Partial<WorkerOptions> = {}): Partial<WorkerOptions> {
  const { interceptors = {} } = given;
  return {
    shutdownGraceTime: HOST_PROCESS_LIMITS.ownEndGraceMs,
    shutdownForceTime: HOST_PROCESS_LIMITS.ownEndGraceMs,
    ...given,
    interceptors: { ...interceptors, activity: [calls.interceptor, ...(interceptors.activity ?? [])] },
  };
}

function abortAfterGrace(
  calls: RunningCalls,
  {
    terminated,
    graceMs,
    say,
  }: Required<Pick<ConnectWorkerOptions, 'terminated' | 'graceMs'>> & { readonly say: ConnectWorkerOptions['say'] | undefined },
): void {
  const abort = (): void => {
    const running = calls.list();
    if (running.length > 0) say?.(`stopping calls that still run ${graceMs / 1_000} s after SIGTERM: ${running.join(', ')}`);
    calls.abort();
  };
  const wait = (): void => void setTimeout(abort, graceMs).unref();
  if (terminated.aborted) wait();
  else terminated.addEventListener('abort', wait, { once: true });
}

let installed = false;

/** Installs the runtime of the process, before its first use. The SDK must not handle signals, because a shutdown releases the folder lock. */
function installRuntime({ stateDir, config, say = () => undefined }: Pick<CreateWorkerOptions, 'stateDir' | 'config' | 'say'>): void {
  if (installed) return;
  installed = true;
  const file = join(stateFolder(stateDir).logs, 'worker.log');
  const secrets = workerSecrets({ keys: config.keys, env: process.env });
  const log = new WorkerLog({ file, say, secrets });
  receiveCallOutput((line) => log.callOutput(line), secrets);
  Runtime.install({
    logger: log.logger,
    // without `forward`, the SDK core writes its warnings to stdout, which is reserved for results
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
    shutdownSignals: [],
  });
}
