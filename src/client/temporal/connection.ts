import { setMaxListeners } from 'node:events';
import type { Client, ConnectionLike, WorkflowHandle } from '@temporalio/client';
import { ExternalStorage, type Payload, type QueryDefinition, type StorageDriver, type StorageDriverClaim } from '@temporalio/common';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isNoPoller, isTimeout, noWorker, type RequestSubject, toPerdureError } from './errors.js';

/** A poller asks again at least every 60 s or so; one that did not is gone, though the server lists it for 5 minutes. */
const POLLER_AGE_MS_MAX = 75_000;

/** One server, namespace and queue, asked with a deadline each time; every error comes out as a PerdureError with its code. */
export class TemporalAccess {
  readonly client: Client;
  readonly taskQueue: string;
  /** What one run input may weigh: more with external storage. */
  readonly inputBytesMax: number;
  readonly #address: string;
  readonly #tls: boolean;

  constructor(options: { client: Client; taskQueue: string; address: string; tls: boolean; inputBytesMax: number }) {
    this.client = options.client;
    this.taskQueue = options.taskQueue;
    this.inputBytesMax = options.inputBytesMax;
    this.#address = options.address;
    this.#tls = options.tls;
  }

  get connection(): ConnectionLike {
    return this.client.connection;
  }

  get namespace(): string {
    return this.client.options.namespace;
  }

  /** What an error says of a request. */
  subject(runId?: string): RequestSubject {
    const server = { address: this.#address, namespace: this.namespace, tls: this.#tls };
    return runId === undefined ? server : { ...server, runId };
  }

  /** An error of the Temporal client, with its code. */
  translate(error: unknown, runId?: string): unknown {
    return toPerdureError(error, this.subject(runId));
  }

  /** Sends one request; throws a PerdureError when it fails or is not answered in 5 s. */
  async ask<T>(request: () => Promise<T>, runId?: string): Promise<T> {
    try {
      return await this.client.withDeadline(Date.now() + CLIENT_LIMITS.connectTimeoutMs, request);
    } catch (error) {
      throw this.translate(error, runId);
    }
  }

  /** Asks a run's worker. Throws `NO_WORKER` (exit 5) when Temporal answers but no worker does within 5 s. */
  async query<Answer, Args extends unknown[]>(
    handle: WorkflowHandle,
    definition: QueryDefinition<Answer, Args>,
    ...args: Args
  ): Promise<Answer> {
    const deadline = Date.now() + CLIENT_LIMITS.queryTimeoutMs;
    try {
      return await this.client.withDeadline(deadline, () => handle.query(definition, ...args));
    } catch (error) {
      if (isNoPoller(error)) throw noWorker(this.taskQueue, 'the run is kept and goes on when one comes');
      if (!isTimeout(error, deadline)) throw this.translate(error, handle.workflowId);
      await this.checkServer();
      throw noWorker(this.taskQueue, 'the run is kept and goes on when one comes');
    }
  }

  /** Throws `TEMPORAL_UNREACHABLE` or `NAMESPACE_NOT_FOUND` unless server and namespace answer. */
  async checkServer(): Promise<void> {
    await this.ask(() => this.connection.workflowService.describeNamespace({ namespace: this.namespace }));
  }

  /** True when a worker polled the queue's workflow side (the server's default) lately. One killed a moment ago still counts: only a query proves that one lives. */
  async hasPoller(): Promise<boolean> {
    const answer = await this.ask(() =>
      this.connection.workflowService.describeTaskQueue({
        namespace: this.namespace,
        taskQueue: { name: this.taskQueue },
      }),
    );
    const oldest = Date.now() - POLLER_AGE_MS_MAX;
    return answer.pollers.some((poller) => Number(poller.lastAccessTime?.seconds ?? 0) * 1_000 > oldest);
  }
}

/**
 * A signal for the requests of one stretch of work, which aborts with the given one. The SDK leaves a listener behind on it for each
 * request: they go with this signal, and many of them are no leak to warn of.
 */
export function signalOfRequests(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}

/** The drivers that workers may store carried state with. */
const DRIVER_NAMES = ['perdure-files'];

const NOTHING: Payload = { metadata: { encoding: new TextEncoder().encode('binary/null') } };

/**
 * External storage for a client that has none: what a run carries over continue-as-new is not for outsiders, but it stands in the
 * events that a client reads on its way to the result. It is read as nothing instead of failing; nothing is ever stored.
 */
export function unreadStorage(): ExternalStorage {
  return new ExternalStorage({ drivers: DRIVER_NAMES.map(unreadDriver), driverSelector: () => null });
}

function unreadDriver(name: string): StorageDriver {
  return {
    name,
    type: 'perdure.unread',
    store: () => Promise.reject(new Error('a client without storage stores nothing')),
    retrieve: (_context, claims: readonly StorageDriverClaim[]) => Promise.resolve(claims.map(() => NOTHING)),
  };
}

/** Checks a Temporal address: `host:port`, IPv6 in brackets. Throws `TEMPORAL_ADDRESS` (exit 2) for anything else, such as a URL. */
export function checkAddress(address: string): string {
  const match = /^(?<host>\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9._-]+):(?<port>\d{1,5})$/u.exec(address);
  const port = Number(match?.groups?.port);
  if (match && port >= 1 && port <= 65_535) return address;
  throw new PerdureError('TEMPORAL_ADDRESS', `use host:port, such as 127.0.0.1:7233 or [::1]:7233, got ${echoValue(address)}`, 2);
}
