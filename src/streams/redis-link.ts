import { setTimeout as delay } from 'node:timers/promises';
import { REDIS_STREAM_LIMITS } from '../contracts/constants/limits.js';
import { openConnection, type RedisConnection, type RedisServer } from './redis-client.js';
import { describeServer } from './redis-url.js';

/** Options of `RedisLink`. */
export interface RedisLinkOptions {
  readonly server: RedisServer;
  /** Receives what goes wrong, each time. Its message has no credentials. */
  readonly onError: (error: Error) => void;
  /** False: the link does not keep the process alive. */
  readonly keepsProcess: boolean;
}

/** The server answered that it does not do a command. Sending it again would not help. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal';
}

/** Error replies that pass: the server starts, is full, or is not the primary now. */
const PASSING = /^(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN) /u;

/** How error replies begin, in place of errors of the connection: `WRONGTYPE Operation against …`. */
const REPLY = /^[A-Z][A-Z0-9]+ /u;

/**
 * One connection that is opened when it is needed, and again after it was lost. A server that does not answer within
 * `REDIS_STREAM_LIMITS.timeoutMs` counts as lost. Attempts to connect are shared by all callers, with a growing wait between them.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #describe: (message: string) => string;
  readonly #closed = new AbortController();
  #opening: Promise<RedisConnection> | undefined;
  #failures = 0;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.#describe = describeServer(options.server.url);
  }

  /** True if the last attempt to reach the server failed. */
  get isDown(): boolean {
    return this.#failures > 0;
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /**
   * Sends commands in order and returns their replies. Rejects with `RedisRefusal` if the server refused one of them, and with any other
   * error if the connection is lost: then it is unknown which of them were done. The error is reported already.
   */
  async send(commands: readonly (readonly string[])[], timeoutMs: number = REDIS_STREAM_LIMITS.timeoutMs): Promise<unknown[]> {
    this.#opening ??= this.#connect();
    const opening = this.#opening;
    let isOpen = false;
    try {
      const connection = await opening;
      isOpen = true;
      const replies = await this.#within(timeoutMs, Promise.all(commands.map((command) => connection.send(command))));
      this.#failures = 0;
      return replies;
    } catch (error) {
      const { message } = error instanceof Error ? error : { message: String(error) };
      const isRefused = isOpen && REPLY.test(message) && !PASSING.test(message);
      if (!isRefused) this.#drop(opening);
      const shown = isRefused ? new RedisRefusal(this.#describe(message)) : new Error(this.#describe(message));
      if (!this.isClosed) this.#options.onError(shown);
      throw shown;
    }
  }

  /** Closes the connection for good. Open commands are rejected. */
  close(): void {
    this.#closed.abort();
    this.#disconnect();
  }

  #disconnect(): void {
    if (this.#opening) closeOnceOpen(this.#opening);
    this.#opening = undefined;
  }

  async #connect(): Promise<RedisConnection> {
    const { server, keepsProcess } = this.#options;
    if (this.#failures > 0) await delay(reconnectMs(this.#failures), undefined, { ref: keepsProcess, signal: this.#closed.signal });
    const limit = new AbortController();
    try {
      const signal = AbortSignal.any([limit.signal, this.#closed.signal]);
      return await this.#within(REDIS_STREAM_LIMITS.timeoutMs, openConnection(server, { keepsProcess }, signal));
    } finally {
      // closes a connection that opens too late
      limit.abort();
    }
  }

  /** Gives up a connection, or the attempt to open one. All who used it come here, and it is one failure. */
  #drop(opening: Promise<RedisConnection>): void {
    if (this.#opening !== opening) return;
    this.#disconnect();
    this.#failures += 1;
  }

  async #within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
      if (!this.#options.keepsProcess) timer.unref();
    });
    try {
      return await Promise.race([work, limit]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Passes on at most one error in `REDIS_STREAM_LIMITS.reportEveryMs`, and drops the others. */
export function reportSometimes(onError: ((error: Error) => void) | undefined): (error: Error) => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (Date.now() - reportedAt < REDIS_STREAM_LIMITS.reportEveryMs) return;
    reportedAt = Date.now();
    onError?.(error);
  };
}

function closeOnceOpen(opening: Promise<RedisConnection>): void {
  void opening.then(
    (connection) => connection.close(),
    () => undefined, // it never opened, and its callers have the error
  );
}

function reconnectMs(failures: number): number {
  const { reconnectMsMin, reconnectMsMax } = REDIS_STREAM_LIMITS;
  return failures === 1 ? 0 : Math.min(reconnectMsMin * 2 ** (failures - 2), reconnectMsMax);
}
