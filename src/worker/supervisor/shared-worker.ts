import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataConverter } from '@temporalio/common';
import type { Worker } from '@temporalio/worker';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { newWorkerIdentity } from '../../process/process-identity.js';
import type { ConnectedWorker } from '../connect-worker.js';
import { sayRunning } from '../hosting/running-calls.js';
import { recoverAgain, recoverDeadWorkers } from '../recovery/recover-dead-workers.js';
import { deadWorkers, recordWorker } from '../recovery/worker-record.js';
import type { WorkerServer } from './messages.js';
import type { SupervisorLink } from './supervisor-link.js';

/** Options of `hostSharedWorker`. */
export interface SharedWorkerOptions {
  readonly stateDir: string;
  readonly server: WorkerServer;
  readonly taskQueue: string;
  /** The data converter of the workers. Required if payloads are encrypted. */
  readonly dataConverter?: DataConverter;
  /** Creates the workers of this process. They poll with this identity, which may be extended, once it is their turn. Called once. */
  readonly connect: (identity: string) => Promise<ConnectedWorker>;
  readonly say: (line: string) => void;
  /** The supervisor of this process. @default none */
  readonly link?: SupervisorLink | undefined;
}

/** A worker of this process on a shared server. */
export interface SharedWorker {
  /** Resolves when it polls. Rejects if hosting failed. */
  readonly ready: Promise<void>;
  /** Resolves when it has stopped. Rejects if it failed. */
  readonly ended: Promise<void>;
  /** Stops polling and waits for running calls. Never rejects. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Hosts a worker on a server that others may use too. Records its identity in the state folder before it polls, and recovers the calls of
 * dead processes of this host while it polls: the state folder proves their death.
 */
export function hostSharedWorker(options: SharedWorkerOptions): SharedWorker {
  const stopping = new AbortController();
  const events = new EventEmitter<{ working: [] }>();
  const working = once(events, 'working');
  const ended = host(options, stopping, () => events.emit('working'));
  const ready = Promise.race([working, ended]).then(() => undefined);
  // for callers that await neither promise; `ready` rejects with the same error
  ended.catch((error: unknown) => {
    // one that tells the user what to do is shown as the error of the command
    if (!(error instanceof PerdureError)) options.say(`the worker failed: ${messageOf(error)}`);
  });
  ready.catch(messageOf);
  return {
    ready,
    ended,
    async stop() {
      stopping.abort();
      await ended.catch(messageOf);
    },
  };
}

async function host(options: SharedWorkerOptions, stopping: AbortController, onWorking: () => void): Promise<void> {
  const { stateDir, server, link } = options;
  const connected = await options.connect(newWorkerIdentity());
  const { identity } = connected.worker.options;
  try {
    await link?.takeTurn({ kind: 'shared', identity, server }, stopping.signal);
    if (stopping.signal.aborted) return;
    const record = await recordWorker(stateDir, identity, nameOf(options));
    const recovering = recover(options, { own: identity, signal: stopping.signal });
    try {
      await poll(connected, stopping, {
        onWorking: () => {
          link?.reportWorking();
          onWorking();
        },
        say: options.say,
      });
    } finally {
      await recovering;
    }
    // only after a clean stop: the record of a failed worker is needed to recover its calls once this process is dead
    await record.forget();
  } finally {
    await close(connected);
  }
}

/** Closes the connection. A worker that never ran still holds it, so it runs for a moment. */
async function close(connected: ConnectedWorker): Promise<void> {
  for (const one of workersOf(connected)) {
    if (one.getState() === 'INITIALIZED') await one.runUntil(Promise.resolve());
  }
  await connected.close();
}

/** Runs the workers until `stopping`, or until one of them fails. */
async function poll(
  connected: ConnectedWorker,
  stopping: AbortController,
  { onWorking, say }: { readonly onWorking: () => void; readonly say: (line: string) => void },
): Promise<void> {
  const workers = workersOf(connected);
  const shutDown = (): void => {
    const running = workers.filter((one) => one.getState() === 'RUNNING');
    for (const one of running) one.shutdown();
    if (running.length > 0) sayRunning(connected.calls, say);
  };
  const polling = workers.map((one) => one.run());
  stopping.signal.addEventListener('abort', shutDown, { once: true });
  if (stopping.signal.aborted) shutDown();
  onWorking();
  try {
    await Promise.all([...polling, checkAgain(connected, stopping.signal)]);
  } finally {
    stopping.abort();
    await Promise.allSettled(polling);
  }
}

/** Workers that start at the same time do not see each other before they poll. */
async function checkAgain(connected: ConnectedWorker, signal: AbortSignal): Promise<void> {
  const isDue = await pause(HOSTING_LIMITS.storeRecheckMs, true, { signal, ref: false }).catch(() => false);
  if (isDue) await connected.checkStore();
}

function workersOf({ worker, hostWorker }: ConnectedWorker): Worker[] {
  return hostWorker ? [worker, hostWorker] : [worker];
}

/** Fails the calls of dead workers of this host. Never rejects: a failed recovery is logged, and the records stay for the next process. */
async function recover(
  options: SharedWorkerOptions,
  { own, signal }: { readonly own: string; readonly signal: AbortSignal },
): Promise<void> {
  const { stateDir, server: place, taskQueue, dataConverter, say } = options;
  const server = nameOf(options);
  try {
    if ((await deadWorkers(stateDir, { server, say })).length === 0) return;
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect(place.connectionOptions);
    try {
      const client = new Client({ connection, namespace: place.namespace, ...(dataConverter && { dataConverter }) });
      const recovery = { client, taskQueue, stateDir, server, log: say };
      await recoverDeadWorkers(recovery);
      await recoverAgain(recovery, { own, signal });
    } finally {
      await connection.close();
    }
  } catch (error) {
    say(`recovery of the calls of dead workers failed: ${messageOf(error)}`);
  }
}

/** The name of a server and queue in the records of workers. */
function nameOf({ server, taskQueue }: SharedWorkerOptions): string {
  return [server.connectionOptions.address, server.namespace, taskQueue].join('/');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
