import { Client, type ClientOptions, Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { CLIENT_LIMITS, PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { DEFAULT_TASK_QUEUE } from '../contracts/handlers.js';
import type { StreamSource } from '../streams/stream.js';
import { RunHandle } from './run-handle.js';
import { listApprovals, type WaitingApproval } from './runs/list-approvals.js';
import { type ListOptions, listRuns, type RunListItem } from './runs/list-runs.js';
import { type SessionCost, sessionCost } from './runs/session-cost.js';
import { checkStart, type StartInput, startRun } from './runs/start-run.js';
import { checkAddress, TemporalAccess, unreadStorage } from './temporal/connection.js';
import { unreachable } from './temporal/errors.js';

/** Where Temporal is and how to talk to it. Give an address, or a connection that you own and close yourself. */
export interface ConnectOptions {
  /** `host:port`. @default 127.0.0.1:7233 */
  readonly address?: string;
  /** A connection of yours: address, tls and apiKey are then not looked at. */
  readonly connection?: ConnectionLike;
  /** @default `default` */
  readonly namespace?: string;
  /** The queue that the workers poll. @default `perdure` */
  readonly taskQueue?: string;
  /** The same as the workers': codecs, and external storage for inputs above 1.5 MiB. */
  readonly dataConverter?: DataConverter;
  readonly tls?: ConnectionOptions['tls'];
  readonly apiKey?: string;
  /** gRPC headers of every request. */
  readonly metadata?: Record<string, string>;
  /** Where the workers publish tokens; without it `watch` gives none. */
  readonly streams?: StreamSource;
}

const ADDRESS_DEFAULT = '127.0.0.1:7233';

/** The door for services that start runs and look after them. One connection; safe to share. */
export class AgentClient {
  readonly #access: TemporalAccess;
  readonly #streams: StreamSource | undefined;
  readonly #closeConnection: () => Promise<void>;

  private constructor(access: TemporalAccess, streams: StreamSource | undefined, closeConnection: () => Promise<void>) {
    this.#access = access;
    this.#streams = streams;
    this.#closeConnection = closeConnection;
  }

  /** Connects within 5 s. Throws `TEMPORAL_ADDRESS` (2) or `TEMPORAL_UNREACHABLE` (5). */
  static async connect(options: ConnectOptions = {}): Promise<AgentClient> {
    const address = checkAddress(options.address ?? ADDRESS_DEFAULT);
    const connection = options.connection ?? (await openConnection(address, options));
    const clientOptions: ClientOptions = {
      connection,
      namespace: options.namespace ?? 'default',
      dataConverter: options.dataConverter ?? { externalStorage: unreadStorage() },
    };
    const access = new TemporalAccess({
      client: new Client(clientOptions),
      taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
      address: options.connection ? 'the given connection' : address,
      tls: usesTls(options),
      inputBytesMax: options.dataConverter?.externalStorage ? PAYLOAD_LIMITS.transcriptBytesMax : CLIENT_LIMITS.inputBytesMax,
    });
    return new AgentClient(access, options.streams, options.connection ? async () => undefined : () => connection.close());
  }

  /**
   * Starts a run and gives its handle. The same id with the same input attaches to the run that is there (`duplicate`). Throws `RUN_EXISTS`
   * (4) for the same id with another input; bad input (2) before anything is sent. Needs no live worker: the run waits for one.
   */
  async start(input: StartInput): Promise<{ run: RunHandle; executionId: string; duplicate: boolean }> {
    const { handle, executionId, duplicate } = await startRun(this.#access, checkStart(input));
    return { run: this.get(handle.workflowId), executionId, duplicate };
  }

  /** The handle of a run by its id; asks nothing yet. */
  get(runId: string): RunHandle {
    return new RunHandle(this.#access, runId, this.#streams);
  }

  /** The runs of this client's queue, newest first. */
  async list(options: ListOptions = {}): Promise<RunListItem[]> {
    return await listRuns(this.#access, options);
  }

  /** What all runs of a session cost together, as far as prices are known. Asks no worker. Throws `BAD_SESSION_ID` (2). */
  async sessionCost(session: string): Promise<SessionCost> {
    return await sessionCost(this.#access, session);
  }

  /** What waits for a person in all open runs of this client's queue, oldest first. Throws `NO_WORKER` (5) when no worker answers. */
  async approvals(): Promise<WaitingApproval[]> {
    return await listApprovals(this.#access);
  }

  /** True when a worker polled this client's queue lately. One killed a moment ago still counts. */
  async hasPoller(): Promise<boolean> {
    return await this.#access.hasPoller();
  }

  /** Throws `TEMPORAL_UNREACHABLE` or `NAMESPACE_NOT_FOUND` unless server and namespace answer. */
  async checkServer(): Promise<void> {
    await this.#access.checkServer();
  }

  /** Closes the connection, unless it was given. */
  async close(): Promise<void> {
    await this.#closeConnection();
  }
}

async function openConnection(address: string, options: ConnectOptions): Promise<Connection> {
  try {
    return await Connection.connect({
      address,
      connectTimeout: CLIENT_LIMITS.connectTimeoutMs,
      ...(options.tls === undefined ? {} : { tls: options.tls }),
      ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
      ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
    });
  } catch (error) {
    throw unreachable({ address, tls: usesTls(options) }, error);
  }
}

/** The SDK turns TLS on by itself when there is an API key. */
function usesTls(options: ConnectOptions): boolean {
  return options.tls === undefined || options.tls === null ? options.apiKey !== undefined : options.tls !== false;
}
