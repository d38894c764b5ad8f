import { EventEmitter, once } from 'node:events';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { newWorkerIdentity } from '../../process/process-identity.js';
import type { TemporalConnectionOptions } from '../connect/check-connection.js';
import { type RunningCalls, sayRunning } from '../hosting/running-calls.js';
import { acquireFolderLock, type FolderLock, folderLockHolder } from '../state-folder/folder-lock.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { recoverAgain, recoverDeadWorkers, resetStickyQueues } from './recover-dead-workers.js';
import { recordWorker } from './worker-record.js';

/** Options of `hostEmbeddedWorker`. */
export interface EmbeddedWorkerOptions {
  readonly stateDir: string;
  /** The embedded server. */
  readonly server: { readonly connectionOptions: TemporalConnectionOptions; readonly namespace: string };
  readonly taskQueue: string;
  /** The hash of the worker's configuration. Other commands get it from `currentHolder`. */
  readonly configHash: string;
  /** The identity of the worker. @default a new one */
  readonly identity?: string;
  /** Creates a worker that polls with exactly this identity, and the registry of its calls. Called at most once, after recovery. */
  readonly makeWorker: (identity: string) => Promise<{ readonly worker: Worker; readonly calls: RunningCalls }>;
  readonly say: (line: string) => void;
  /** The data converter of the workers. Required if payloads are encrypted. */
  readonly dataConverter?: DataConverter;
}

/** The worker of a folder, hosted by this process or by the current holder of the lock. */
export interface EmbeddedWorker {
  /** Resolves when the folder has a worker: this process polls, or another process holds the lock. Rejects if hosting failed. */
  readonly ready: Promise<void>;
  /** Resolves when this process no longer hosts or waits for the lock. Rejects if its worker failed. */
  readonly ended: Promise<void>;
  /** True while this process holds the worker lock. */
  holding(): boolean;
  /**
   * Stops polling, releases the lock, so that another process can host the worker, and waits for running calls. With `force`, does not wait: the process must then exit, and the next
   * holder recovers its calls. Never rejects. Idempotent.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>;
}

/** The process that hosts the worker of a folder. */
export interface WorkerHolder {
  readonly pid: number;
  readonly configHash: string;
}

const LOCK_POLL_MS_MAX = 250;
const HolderNote = z.object({ configHash: z.string() });

/**
 * Hosts the worker of a state folder: waits for `worker.lock`, records its identity, recovers the calls of dead workers, and polls
 * until `stop`. While another process holds the lock, waits to take over.
 */
export function hostEmbeddedWorker(options: EmbeddedWorkerOptions): EmbeddedWorker {
  return new HostedWorker(options);
}

/** The living process that hosts the worker of the folder, or undefined. `say` receives a notice about an unreadable record. @default none */
export async function currentHolder(stateDir: string, say: (line: string) => void = () => {}): Promise<WorkerHolder | undefined> {
  const holder = await folderLockHolder(stateFolder(stateDir).workerLock, say);
  const note = HolderNote.safeParse(holder?.note);
  return holder && note.success ? { pid: holder.pid, configHash: note.data.configHash } : undefined;
}

class HostedWorker implements EmbeddedWorker {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #options: EmbeddedWorkerOptions;
  readonly #stopping = new AbortController();
  readonly #events = new EventEmitter<{ serving: [] }>();
  #isHolding = false;

  constructor(options: EmbeddedWorkerOptions) {
    this.#options = options;
    const serving = once(this.#events, 'serving');
    this.ended = this.#host();
    this.ready = Promise.race([serving, this.ended]).then(() => undefined);
    // reported here for callers that await neither promise; `ready` rejects with the same error
    this.ended.catch((error: unknown) => options.say(`the worker for this folder failed: ${messageOf(error)}`));
    this.ready.catch(messageOf);
  }

  holding(): boolean {
    return this.#isHolding;
  }

  async stop({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    this.#stopping.abort();
    // the constructor already reports a failure
    if (!force) await this.ended.catch(messageOf);
  }

  async #host(): Promise<void> {
    const { stateDir, configHash, say } = this.#options;
    const { signal } = this.#stopping;
    const onWait = (pid: number): void => {
      say(`The worker for this folder runs in process ${pid}. This process takes over when it exits.`);
      this.#events.emit('serving');
    };
    const waiting = { note: { configHash } satisfies z.infer<typeof HolderNote>, signal, pollMsMax: LOCK_POLL_MS_MAX, onWait };
    const lock = await acquireFolderLock(stateFolder(stateDir).workerLock, waiting).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (!lock) return;
    this.#isHolding = true;
    try {
      await this.#recoverAndPoll(lock);
    } finally {
      await this.#release(lock);
    }
  }

  async #release(lock: FolderLock): Promise<void> {
    this.#isHolding = false;
    await lock.release();
  }

  async #recoverAndPoll(lock: FolderLock): Promise<void> {
    const { stateDir, server, taskQueue, dataConverter, say } = this.#options;
    const identity = this.#options.identity ?? newWorkerIdentity();
    const record = await recordWorker(stateDir, identity);
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect(server.connectionOptions);
    try {
      const client = new Client({ connection, namespace: server.namespace, ...(dataConverter && { dataConverter }) });
      const recovery = { client, taskQueue, stateDir, log: say };
      await recoverDeadWorkers(recovery);
      const lookingAgain = recoverAgain(recovery, { own: identity, signal: this.#stopping.signal });
      try {
        if (!this.#stopping.signal.aborted) await this.#poll(identity, { client, lock });
      } finally {
        this.#stopping.abort();
        await lookingAgain;
      }
    } finally {
      await connection.close();
    }
    // only after a clean stop: the record of a failed worker is needed to recover its calls once this process is dead
    await record.forget();
  }

  /** Runs the worker until it stops, by `stop` or on its own. */
  async #poll(identity: string, held: Held): Promise<void> {
    const { signal } = this.#stopping;
    const { worker, calls } = await this.#options.makeWorker(identity);
    const polling = worker.run();
    let handover: Promise<void> | undefined;
    const shutDown = (): void => {
      if (worker.getState() !== 'RUNNING') return;
      worker.shutdown();
      if (calls.list().length > 0) handover = this.#handOver(calls, held);
    };
    signal.addEventListener('abort', shutDown, { once: true });
    if (signal.aborted) shutDown();
    this.#events.emit('serving');
    try {
      await polling;
    } finally {
      signal.removeEventListener('abort', shutDown);
      await handover;
    }
  }

  /**
   * Lets another process host the worker while the calls of this one end. The record of this worker stays until then, so that its calls
   * are recovered if this process dies.
   */
  async #handOver(calls: RunningCalls, { client, lock }: Held): Promise<void> {
    const { taskQueue, say } = this.#options;
    sayRunning(calls, say);
    try {
      // this worker no longer polls its sticky queue, where the next workflow tasks would wait 5 s
      await resetStickyQueues(client, taskQueue);
    } catch (error) {
      say(`runs may continue some seconds late (their sticky queues could not be reset: ${messageOf(error)})`);
    }
    await this.#release(lock);
  }
}

/** What a polling worker holds. */
interface Held {
  readonly client: Client;
  readonly lock: FolderLock;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
