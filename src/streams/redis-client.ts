import { REDIS_STREAM_LIMITS } from '../contracts/constants/limits.js';
import { PerdureError } from '../contracts/perdure-error.js';

/** A client of the package `redis`, as far as it is used here. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  duplicate(): NodeRedisClient;
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  unref(): void;
  destroy(): void;
}

/** A client of the package `ioredis`, as far as it is used here. */
export interface IoRedisClient {
  duplicate(): IoRedisClient;
  call(command: string, ...args: string[]): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  disconnect(): void;
}

/** Where Redis is: a URL, for which the package `redis` must be installed, or a client of `redis` or `ioredis`. */
export type RedisServer =
  | {
      /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://…` for TLS. Its credentials appear in no message. */
      readonly url: string;
      readonly client?: never;
    }
  | {
      /** Your client. It is not used itself: the streams open connections of their own with its `duplicate()`, and close them. */
      readonly client: NodeRedisClient | IoRedisClient;
      readonly url?: never;
    };

/** A connection that its opener owns. */
export interface RedisConnection {
  /** Sends a command. Commands are answered in the order in which they were sent. */
  send(command: readonly string[]): Promise<unknown>;
  /** Closes the connection. Open commands are rejected. Never throws. */
  close(): void;
}

/** Options of `openConnection`. */
export interface OpenOptions {
  /** False: the connection does not keep the process alive. */
  readonly keepsProcess: boolean;
}

/** Opens a connection that does not reconnect by itself. Rejects if the server does not answer. The caller limits the time. */
export function openConnection(server: RedisServer, { keepsProcess }: OpenOptions, signal: AbortSignal): Promise<RedisConnection> {
  if (server.url !== undefined) return openUrl(server.url, keepsProcess, signal);
  const { client } = server;
  return 'call' in client ? openIoRedis(client.duplicate(), signal) : openNodeRedis(client.duplicate(), keepsProcess, signal);
}

async function openUrl(url: string, keepsProcess: boolean, signal: AbortSignal): Promise<RedisConnection> {
  const { createClient } = await import('redis').catch((cause: unknown) => {
    throw new PerdureError('REDIS_PACKAGE', 'token streams in Redis need the package "redis"; install it with: npm install redis', 2, {
      cause,
    });
  });
  const client = createClient({
    url,
    // commands of a lost connection are sent again by their sender, which bounds them
    disableOfflineQueue: true,
    socket: { connectTimeout: REDIS_STREAM_LIMITS.timeoutMs, reconnectStrategy: false },
  });
  return await openNodeRedis(client, keepsProcess, signal);
}

async function openNodeRedis(client: NodeRedisClient, keepsProcess: boolean, signal: AbortSignal): Promise<RedisConnection> {
  const close = (): void => {
    if (client.isOpen) client.destroy();
  };
  return await opened(client, { close, send: (command) => client.sendCommand(command) }, signal, async () => {
    await client.connect();
    if (!keepsProcess) client.unref();
  });
}

function openIoRedis(client: IoRedisClient, signal: AbortSignal): Promise<RedisConnection> {
  // it connects with the first command, if it has not begun already
  const send = ([name = '', ...args]: readonly string[]): Promise<unknown> => client.call(name, ...args);
  return opened(client, { send, close: () => client.disconnect() }, signal, () => send(['PING']));
}

/** Waits until a client is connected, and closes it if it fails or the signal aborts. */
async function opened(
  client: Pick<NodeRedisClient, 'on'>,
  connection: RedisConnection,
  signal: AbortSignal,
  connect: () => Promise<unknown>,
): Promise<RedisConnection> {
  // without a listener, a lost connection would end the process; the command that it loses is rejected too
  client.on('error', ignore);
  signal.throwIfAborted();
  const close = (): void => connection.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    await connect();
    return connection;
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}

function ignore(): void {
  // the rejected command reports it
}
