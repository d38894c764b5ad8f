import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, ConnectionLike, WorkflowHandle } from '@temporalio/client';
import { ExternalStorage, type Payload, type QueryDefinition, type StorageDriver, type StorageDriverClaim } from '@temporalio/common';
import { CLIENT_LIMITS, HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { queryTwice } from '../../contracts/query-twice.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isBeforeFirstTask, isNoPoller, isTimeout, noWorker, type RequestSubject, toPerdureError, unreachable } from './errors.js';
import { type Signer, signerFor, UNSIGNED } from './signer.js';

/** Options of `TemporalAccess`. */
interface AccessOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly address: string;
  readonly tls: boolean;
  readonly inputBytesMax: number;
  /** @default nothing is signed */
  readonly stateDir?: string | undefined;
  /** @default the signer of `stateDir` */
  readonly sign?: Signer;
}

/** Access to one server, namespace and task queue. Each request has a deadline. Errors are converted to PerdureErrors. */
export class TemporalAccess {
  readonly client: Client;
  readonly taskQueue: string;
  /** The size limit of a run input. Higher with external storage. */
  readonly inputBytesMax: number;
  /** Signs what only the owner of an embedded server may do. */
  readonly sign: Signer;
  /** The state folder of the server, if it may be an embedded one. */
  readonly stateDir: string | undefined;
  readonly #address: string;
  readonly #tls: boolean;

  constructor(options: AccessOptions) {
    this.client = options.client;
    this.taskQueue = options.taskQueue;
    this.inputBytesMax = options.inputBytesMax;
    this.stateDir = options.stateDir;
    this.sign = options.sign ?? signerFor(options.stateDir);
    this.#address = options.address;
    this.#tls = options.tls;
  }

  get connection(): ConnectionLike {
    return this.client.connection;
  }

  get namespace(): string {
    return this.client.options.namespace;
  }

  /** The same access without the key of the owner. */
  unsigned(): TemporalAccess {
    const { client, taskQueue, inputBytesMax, stateDir } = this;
    return new TemporalAccess({ client, taskQueue, inputBytesMax, stateDir, address: this.#address, tls: this.#tls, sign: UNSIGNED });
  }

  /** The request data for error messages. */
  subject(runId?: string): RequestSubject {
    const server = { address: this.#address, namespace: this.namespace, tls: this.#tls };
    return runId === undefined ? server : { ...server, runId };
  }

  /** Converts an error of the Temporal client to a PerdureError. */
  translate(error: unknown, runId?: string): unknown {
    return toPerdureError(error, this.subject(runId));
  }

  /** Sends one request. Throws a PerdureError if it fails or gets no answer within `timeoutMs`, by default 5 s. */
  async ask<T>(request: () => Promise<T>, runId?: string, timeoutMs: number = CLIENT_LIMITS.connectTimeoutMs): Promise<T> {
    const deadline = Date.now() + timeoutMs;
    try {
      return await this.client.withDeadline(deadline, request);
    } catch (error) {
      // a request that is cancelled at its deadline has no answer either
      throw isTimeout(error, deadline) ? unreachable(this.subject(), error) : this.translate(error, runId);
    }
  }

  /** Queries a run. Throws `NO_WORKER` (exit 5) if the server answers but no worker does within 5 s. */
  async query<Answer, Args extends unknown[]>(
    handle: WorkflowHandle,
    definition: QueryDefinition<Answer, Args>,
    ...args: Args
  ): Promise<Answer> {
    return await this.#queryWithin(CLIENT_LIMITS.queryTimeoutMs, handle, definition, args);
  }

  /**
   * Queries a run that may be long, so that its worker replays the whole history first: if a worker polls the queue, it has 30 s. Else as
   * `query`.
   */
  async queryReplayed<Answer, Args extends unknown[]>(
    handle: WorkflowHandle,
    definition: QueryDefinition<Answer, Args>,
    ...args: Args
  ): Promise<Answer> {
    try {
      return await this.query(handle, definition, ...args);
    } catch (error) {
      if (!isNoWorker(error) || !(await this.hasPoller())) throw error;
    }
    // an event may come for an open run: its queries must not leave the sticky queue of a lost worker
    const attempts = (await this.#isOpen(handle)) ? REPLAY_ATTEMPTS : 1;
    const timeoutMs = CLIENT_LIMITS.replayTimeoutMs / attempts;
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      try {
        return await this.#queryWithin(timeoutMs, handle, definition, args);
      } catch (error) {
        if (!isNoWorker(error)) throw error;
      }
    }
    return await this.#queryWithin(timeoutMs, handle, definition, args);
  }

  async #isOpen(handle: WorkflowHandle): Promise<boolean> {
    const { status } = await this.ask(() => handle.describe(), handle.workflowId);
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  }

  async #queryWithin<Answer, Args extends unknown[]>(
    timeoutMs: number,
    handle: WorkflowHandle,
    definition: QueryDefinition<Answer, Args>,
    args: Args,
  ): Promise<Answer> {
    const deadline = Date.now() + timeoutMs;
    try {
      return await queryTwice(this.client, deadline, () => handle.query(definition, ...args));
    } catch (error) {
      if (isNoPoller(error)) throw noWorker(this.taskQueue, RUN_IS_KEPT);
      if (isBeforeFirstTask(error) && Date.now() + FIRST_TASK_MS < deadline) {
        await delay(FIRST_TASK_MS);
        return await this.#queryWithin(deadline - Date.now(), handle, definition, args);
      }
      if (!isTimeout(error, deadline)) throw this.translate(error, handle.workflowId);
      await this.checkServer();
      throw noWorker(this.taskQueue, RUN_IS_KEPT);
    }
  }

  /** Checks the server and the namespace. Throws `TEMPORAL_UNREACHABLE` or `NAMESPACE_NOT_FOUND`. */
  async checkServer(): Promise<void> {
    await this.ask(() => this.connection.workflowService.describeNamespace({ namespace: this.namespace }));
  }

  /** True if a worker polled the task queue for workflow tasks recently. A worker killed a moment ago still counts; only a query proves that one is running. */
  async hasPoller(taskQueue = this.taskQueue): Promise<boolean> {
    const answer = await this.ask(() =>
      this.connection.workflowService.describeTaskQueue({
        namespace: this.namespace,
        taskQueue: { name: taskQueue },
      }),
    );
    const oldest = Date.now() - HOSTING_LIMITS.pollerAgeMs;
    return answer.pollers.some((poller) => Number(poller.lastAccessTime?.seconds ?? 0) * 1_000 > oldest);
  }
}

/**
 * Creates a signal for a series of requests that aborts with the given one. The SDK leaves a listener on it for each request. They are
 * collected with this signal, so the warning about many listeners is turned off.
 */
export function signalOfRequests(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}

/** Attempts in `CLIENT_LIMITS.replayTimeoutMs` for an open run: none is longer than `CLIENT_LIMITS.queryTimeoutMs`. */
const REPLAY_ATTEMPTS = CLIENT_LIMITS.replayTimeoutMs / CLIENT_LIMITS.queryTimeoutMs;

function isNoWorker(error: unknown): boolean {
  return error instanceof PerdureError && error.code === 'NO_WORKER';
}

/** Time between two queries for a run that has no task yet. */
const FIRST_TASK_MS = 50;

const RUN_IS_KEPT = 'the run is kept and continues once a worker connects';

/** The storage drivers that workers may use for carried state. */
const DRIVER_NAMES = ['perdure-files'];

const NOTHING: Payload = { metadata: { encoding: new TextEncoder().encode('binary/null') } };

/**
 * External storage for a client without a store. The state that a run carries over continue-as-new is part of the events that a client
 * reads before the result. This storage reads it as null, because the read would otherwise fail. It never stores a payload.
 */
export function unreadStorage(): ExternalStorage {
  return new ExternalStorage({ drivers: DRIVER_NAMES.map(unreadDriver), driverSelector: () => null });
}

function unreadDriver(name: string): StorageDriver {
  return {
    name,
    type: 'perdure.unread',
    store: () => Promise.reject(new Error('this client has no external storage')),
    retrieve: (_context, claims: readonly StorageDriverClaim[]) => Promise.resolve(claims.map(() => NOTHING)),
  };
}

/** Validates a Temporal address: `host:port`, IPv6 in brackets. Throws `TEMPORAL_ADDRESS` (exit 2) for anything else, such as a URL. */
export function checkAddress(address: string): string {
  const match = /^(?<host>\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9._-]+):(?<port>\d{1,5})$/u.exec(address);
  const port = Number(match?.groups?.port);
  if (match && port >= 1 && port <= 65_535) return address;
  throw new PerdureError('TEMPORAL_ADDRESS', `use host:port, such as 127.0.0.1:7233 or [::1]:7233, got ${echoValue(address)}`, 2);
}
