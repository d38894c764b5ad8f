import { EventEmitter, once } from 'node:events';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Worker } from '@temporalio/worker';
import { z } from 'zod';
import type { TemporalConnectionOptions } from '../connect/check-connection.js';
import { acquireFolderLock, folderLockHolder } from '../state-folder/folder-lock.js';
import { newWorkerIdentity } from '../state-folder/process-identity.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { recoverAgain, recoverDeadWorkers } from './recover-dead-workers.js';
import { listOpenRuns, listStartedActivities } from './started-activities.js';
import { recordWorker } from './worker-record.js';

/** What hosting the folder's worker needs. */
export interface EmbeddedWorkerOptions {
  readonly stateDir: string;
  /** The folder's own server. */
  readonly server: { readonly connectionOptions: TemporalConnectionOptions; readonly namespace: string };
  readonly taskQueue: string;
  /** Hash of the configuration the worker runs with; told to other commands by `currentHolder`. */
  readonly configHash: string;
  /** Makes a worker that polls under exactly this identity. Called at most once, after recovery. */
  readonly makeWorker: (identity: string) => Promise<Worker>;
  readonly say: (line: string) => void;
  /** The converter of the workers; needed where payloads are encrypted. */
  readonly dataConverter?: DataConverter;
}

/** The folder's worker, hosted by this process or by another one that goes before it. */
export interface EmbeddedWorker {
  /** Resolves when the folder has a worker: this process polls, or another holds the lock. Rejects when hosting failed. */
  readonly ready: Promise<void>;
  /** Resolves when this process hosts and waits no longer; rejects when its worker failed. */
  readonly ended: Promise<void>;
  /** True while this process holds the worker lock. */
  holding(): boolean;
  /**
   * Stops polling, lets running calls finish and gives the lock to the next. `force` waits for nothing: the process must
   * exit then, and the next one recovers its calls. Never rejects; may be called again.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>;
}

/** The process that hosts a folder's worker. */
export interface WorkerHolder {
  readonly pid: number;
  readonly configHash: string;
}

const LOCK_POLL_MS_MAX = 250;
const HolderNote = z.object({ configHash: z.string() });

/**
 * Hosts the one worker of a state folder: waits for `worker.lock`, records its identity, gives back what dead workers left,
 * and polls until `stop`. While another process holds the lock it waits to take over.
 */
export function hostEmbeddedWorker(options: EmbeddedWorkerOptions): EmbeddedWorker {
  return new HostedWorker(options);
}

/** The living process that hosts the folder's worker; undefined when none does. */
export async function currentHolder(stateDir: string): Promise<WorkerHolder | undefined> {
  const holder = await folderLockHolder(stateFolder(stateDir).workerLock);
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
    // told here, so that a caller who awaits neither learns of it too; a rejection of `ready` is the same one
    this.ended.catch((error: unknown) => options.say(`the worker of this folder failed: ${messageOf(error)}`));
    this.ready.catch(messageOf);
  }

  holding(): boolean {
    return this.#isHolding;
  }

  async stop({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    this.#stopping.abort();
    // a failure was told above
    if (!force) await this.ended.catch(messageOf);
  }

  async #host(): Promise<void> {
    const { stateDir, configHash, say } = this.#options;
    const { signal } = this.#stopping;
    const onWait = (pid: number): void => {
      say(`process ${pid} hosts the worker of this folder; this one takes over when it ends`);
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
      await this.#recoverAndPoll();
    } finally {
      this.#isHolding = false;
      await lock.release();
    }
  }

  async #recoverAndPoll(): Promise<void> {
    const { stateDir, server, taskQueue, dataConverter, say } = this.#options;
    const identity = newWorkerIdentity();
    const record = await recordWorker(stateDir, identity);
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect(server.connectionOptions);
    try {
      const client = new Client({ connection, namespace: server.namespace, ...(dataConverter && { dataConverter }) });
      const recovery = { client, taskQueue, stateDir, log: say };
      await recoverDeadWorkers(recovery);
      const lookingAgain = recoverAgain(recovery, this.#stopping.signal);
      try {
        if (!this.#stopping.signal.aborted) await this.#poll(identity, client);
      } finally {
        this.#stopping.abort();
        await lookingAgain;
      }
    } finally {
      await connection.close();
    }
    // only after a clean end: what a failed worker still runs is found through its record once this process is gone
    await record.forget();
  }

  /** Runs the worker until it has stopped, by `stop` or by itself. */
  async #poll(identity: string, client: Client): Promise<void> {
    const { signal } = this.#stopping;
    const worker = await this.#options.makeWorker(identity);
    const polling = worker.run();
    let telling: Promise<void> | undefined;
    const shutDown = (): void => {
      if (worker.getState() !== 'RUNNING') return;
      if (worker.getStatus().numInFlightActivities > 0) telling = this.#tellRunning(identity, client);
      worker.shutdown();
    };
    signal.addEventListener('abort', shutDown, { once: true });
    if (signal.aborted) shutDown();
    this.#events.emit('serving');
    try {
      await polling;
    } finally {
      signal.removeEventListener('abort', shutDown);
      await telling;
    }
  }

  /** Says which calls a stopping worker still waits for. */
  async #tellRunning(identity: string, client: Client): Promise<void> {
    const { taskQueue, say } = this.#options;
    try {
      const runs = await listOpenRuns(client, taskQueue);
      const running = await Promise.all(runs.map((run) => listStartedActivities(client, run, new Set([identity]))));
      const names = running.flat().map(({ run, type }) => `${type} of ${run.workflowId}`);
      if (names.length > 0) say(`waiting for running calls: ${names.join(', ')}`);
    } catch (error) {
      say(`waiting for running calls (which ones could not be asked: ${messageOf(error)})`);
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
