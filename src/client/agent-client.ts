import { Client, type ClientOptions, Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { CLIENT_LIMITS, PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { DEFAULT_TASK_QUEUE } from '../contracts/handlers.js';
import type { JsonValue } from '../contracts/schemas/message.js';
import type { StreamSource } from '../streams/stream.js';
import { RunHandle } from './run-handle.js';
import { listApprovals, listQuestions, type WaitingApproval, type WaitingQuestion } from './runs/list-approvals.js';
import {
  countRuns,
  type ListOptions,
  type ListPageOptions,
  listRunPage,
  listRuns,
  type RunFilter,
  type RunListItem,
  type RunListPage,
} from './runs/list-runs.js';
import { type SessionCost, sessionCost } from './runs/session-cost.js';
import { checkStart, type StartInput, startRun } from './runs/start-run.js';
import { Schedules } from './schedules/schedules.js';
import { SessionHandle } from './session-handle.js';
import { listSessions, type SessionListItem, type SessionListOptions } from './sessions/list-sessions.js';
import type { SessionOptions } from './sessions/session-input.js';
import { retriesUntilClosed } from './temporal/closed-channel.js';
import { checkAddress, TemporalAccess, unreadStorage } from './temporal/connection.js';
import { unreachable } from './temporal/errors.js';
import { ownerFolder } from './temporal/signer.js';

/** Options of `AgentClient.connect`. Set an address, or a connection that you own and close yourself. */
export interface ConnectOptions {
  /** `host:port`. @default 127.0.0.1:7233 */
  readonly address?: string;
  /** Your own connection. `address`, `tls` and `apiKey` are then ignored. */
  readonly connection?: ConnectionLike;
  /** @default `default` */
  readonly namespace?: string;
  /** The task queue of the workers. @default `perdure` */
  readonly taskQueue?: string;
  /** The data converter of the workers, which `createDataConverter` makes: codecs, and the store of inputs above 1.5 MiB. */
  readonly dataConverter?: DataConverter;
  readonly tls?: ConnectionOptions['tls'];
  readonly apiKey?: string;
  /** gRPC headers of every request. */
  readonly metadata?: Record<string, string>;
  /**
   * The state folder of the embedded server. Starts with a workspace, approvals, answers and extensions are signed with its key. @default for an
   * address of this machine: `PERDURE_DIR`, else `.perdure` in the current folder; else requests are not signed
   */
  readonly stateDir?: string;
  /** The source of the tokens that workers publish, such as `RedisStreamSource` of `perdure/streams`. @default none: `watch` yields no tokens */
  readonly streams?: StreamSource;
}

const ADDRESS_DEFAULT = '127.0.0.1:7233';

/** A client for services that start and control runs. Uses one connection; share one client. */
export class AgentClient {
  /** Starts tasks at fixed times. Sends no request by itself. */
  readonly schedules: Schedules;
  readonly #access: TemporalAccess;
  readonly #streams: StreamSource | undefined;
  readonly #closeConnection: () => Promise<void>;

  private constructor(access: TemporalAccess, streams: StreamSource | undefined, closeConnection: () => Promise<void>) {
    this.schedules = new Schedules(access);
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
      stateDir: ownerFolder(options.connection ? undefined : address, options.stateDir),
      inputBytesMax: options.dataConverter?.externalStorage ? PAYLOAD_LIMITS.transcriptBytesMax : CLIENT_LIMITS.inputBytesMax,
    });
    return new AgentClient(access, options.streams, options.connection ? async () => undefined : () => connection.close());
  }

  /**
   * Starts a run and returns its handle. If a run with the same ID and input exists, attaches to it (`duplicate`). Throws `RUN_EXISTS` (4)
   * for the same ID with different input. Throws (2) for invalid input before anything is sent. Needs no worker: the run waits for one.
   * With an `outputSchema` of zod 4, `structured` of the result has the type of that schema.
   */
  async start<Structured = JsonValue>(
    input: StartInput<Structured>,
  ): Promise<{ run: RunHandle<Structured>; executionId: string; duplicate: boolean }> {
    const { handle, executionId, duplicate } = await startRun(this.#access, checkStart(input));
    return { run: this.get<Structured>(handle.workflowId), executionId, duplicate };
  }

  /** Returns the handle of a run. Sends no request. `Structured` is the type of its structured answer, which nothing checks here. */
  get<Structured = JsonValue>(runId: string): RunHandle<Structured> {
    return new RunHandle<Structured>(this.#access, runId, this.#streams);
  }

  /**
   * Returns the handle of a session. Sends no request: the first message starts the session with these options. A session that exists keeps its
   * own. Throws `BAD_SESSION_ID` and `BAD_OPTION` (2).
   */
  session(key: string, options: SessionOptions = {}): SessionHandle {
    return new SessionHandle(this.#access, key, options, this.#streams);
  }

  /** Lists the sessions of this client's task queue, newest first. Throws `BAD_OPTION` (2). */
  async sessions(options: SessionListOptions = {}): Promise<SessionListItem[]> {
    return await listSessions(this.#access, options);
  }

  /**
   * Lists the runs of this client's task queue, newest first. Throws `BAD_OPTION` and `BAD_SESSION_ID` (2), and `TEMPORAL_REFUSED` (4) if
   * the server does not have the search attribute that the filter needs.
   */
  async list(options: ListOptions = {}): Promise<RunListItem[]> {
    return await listRuns(this.#access, options);
  }

  /** Lists a page of the runs of this client's task queue, newest first. Throws as `list` does, and `BAD_CURSOR` (2). */
  async listPage(options: ListPageOptions = {}): Promise<RunListPage> {
    return await listRunPage(this.#access, options);
  }

  /** Counts the runs of this client's task queue. Throws as `list` does. */
  async count(filter: RunFilter = {}): Promise<number> {
    return await countRuns(this.#access, filter);
  }

  /** The total cost of the runs of a session, for models with a known price. Needs no worker. Throws `BAD_SESSION_ID` (2). */
  async sessionCost(session: string): Promise<SessionCost> {
    return await sessionCost(this.#access, session);
  }

  /** Lists the pending approvals of all open runs of this client's task queue, oldest first. Throws `NO_WORKER` (5) if no worker answers. */
  async approvals(): Promise<WaitingApproval[]> {
    return await listApprovals(this.#access);
  }

  /** Lists the pending questions of all open runs, as `approvals` does. */
  async questions(): Promise<WaitingQuestion[]> {
    return await listQuestions(this.#access);
  }

  /**
   * True if a worker polled the task queue recently. A worker killed a moment ago still counts.
   *
   * @param taskQueue the queue. @default the one of this client
   */
  async hasPoller(taskQueue?: string): Promise<boolean> {
    return await this.#access.hasPoller(taskQueue);
  }

  /** Checks the server and the namespace. Throws `TEMPORAL_UNREACHABLE` or `NAMESPACE_NOT_FOUND`. */
  async checkServer(): Promise<void> {
    await this.#access.checkServer();
  }

  /** Closes the connection, unless it is your own. */
  async close(): Promise<void> {
    await this.#closeConnection();
  }
}

async function openConnection(address: string, options: ConnectOptions): Promise<Connection> {
  try {
    return await Connection.connect({
      address,
      connectTimeout: CLIENT_LIMITS.connectTimeoutMs,
      interceptors: retriesUntilClosed(),
      ...(options.tls === undefined ? {} : { tls: options.tls }),
      ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
      ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
    });
  } catch (error) {
    throw unreachable({ address, tls: usesTls(options) }, error);
  }
}

/** The SDK enables TLS if there is an API key. */
function usesTls(options: ConnectOptions): boolean {
  return options.tls === undefined || options.tls === null ? options.apiKey !== undefined : options.tls !== false;
}
