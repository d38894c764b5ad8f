import type { Connection, ConnectionOptions } from '@temporalio/client';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { acceptsTcp } from '../temporal/probe.js';

/** Connection options, for both `Connection.connect` of the client and `NativeConnection.connect` of the worker. */
export interface TemporalConnectionOptions extends Pick<ConnectionOptions, 'tls'> {
  readonly address: string;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
}

/** The parts of a `host:port`. `host` of an IPv6 address has no brackets. */
export interface ParsedAddress {
  readonly address: string;
  readonly host: string;
  readonly port: number;
}

const ADDRESS = /^(?:\[(?<ipv6>[0-9a-f:.]+)\]|(?<name>[a-z0-9_.-]+)):(?<port>\d{1,5})$/iu;
const TCP_TIMEOUT_MS = 2_000;
/** gRPC status codes that map to a specific error. */
const GRPC = { NOT_FOUND: 5, PERMISSION_DENIED: 7, UNAUTHENTICATED: 16 } as const;

/** Parses an address. Throws PerdureError `TEMPORAL_ADDRESS` (2) unless it is `host:port` or `[ipv6]:port`. */
export function parseAddress(text: string): ParsedAddress {
  const { ipv6, name, port } = ADDRESS.exec(text.trim())?.groups ?? {};
  const host = ipv6 ?? name;
  if (!host || !port || Number(port) < 1 || Number(port) > 65_535) {
    throw new PerdureError('TEMPORAL_ADDRESS', `use host:port or [ipv6]:port, got ${JSON.stringify(text.slice(0, 80))}`, 2);
  }
  return { address: text.trim(), host, port: Number(port) };
}

/**
 * Checks that the server answers and has the namespace. Takes at most about 5 s. Throws PerdureError `TEMPORAL_UNREACHABLE` or
 * `TEMPORAL_REFUSED` (5), or `NAMESPACE_NOT_FOUND` (3).
 */
export async function checkNamespace(options: TemporalConnectionOptions, namespace: string): Promise<void> {
  await withConnection(options, async (connection) => {
    try {
      await connection.withDeadline(Date.now() + TCP_TIMEOUT_MS, () => connection.workflowService.describeNamespace({ namespace }));
    } catch (error) {
      throw describeFailure(error, options, namespace);
    }
  });
}

/** True if a worker polls the task queue on the server. Also false if the server does not answer or does not have the namespace. */
export async function hasPollers(options: TemporalConnectionOptions, namespace: string, taskQueue: string): Promise<boolean> {
  try {
    return await withConnection(options, async (connection) => {
      // without a type, the server reports the pollers of workflow tasks
      const request = { namespace, taskQueue: { name: taskQueue } };
      const { pollers } = await connection.withDeadline(Date.now() + TCP_TIMEOUT_MS, () =>
        connection.workflowService.describeTaskQueue(request),
      );
      return pollers.length > 0;
    });
  } catch {
    // any error means that this is not a server to use
    return false;
  }
}

async function withConnection<T>(options: TemporalConnectionOptions, use: (connection: Connection) => Promise<T>): Promise<T> {
  const { host, port } = parseAddress(options.address);
  // the gRPC client retries a refused port until its deadline, so the port is probed first
  if (!(await acceptsTcp(host, port, TCP_TIMEOUT_MS))) throw unreachable(options, 'no server accepts connections at this address');
  const { Connection } = await import('@temporalio/client');
  const { apiKey, metadata, tls, address } = options;
  const connection = await Connection.connect({
    address,
    connectTimeout: CLIENT_LIMITS.connectTimeoutMs - TCP_TIMEOUT_MS,
    ...(tls !== undefined && { tls }),
    ...(apiKey !== undefined && { apiKey }),
    ...(metadata && { metadata }),
  }).catch((error: unknown) => {
    throw describeFailure(error, options);
  });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

function describeFailure(error: unknown, options: TemporalConnectionOptions, namespace?: string): PerdureError {
  const code = grpcCode(error);
  const reason = error instanceof Error ? error.message : String(error);
  if (code === GRPC.NOT_FOUND && namespace !== undefined) {
    return new PerdureError('NAMESPACE_NOT_FOUND', `${namespace} does not exist at ${options.address}`, 3, { cause: error });
  }
  if (code === GRPC.PERMISSION_DENIED || code === GRPC.UNAUTHENTICATED) {
    return new PerdureError('TEMPORAL_REFUSED', `${options.address} (${tlsState(options)}) rejected this client: ${reason}`, 5, {
      cause: error,
    });
  }
  return unreachable(options, reason, error);
}

function unreachable(options: TemporalConnectionOptions, reason: string, cause?: unknown): PerdureError {
  return new PerdureError('TEMPORAL_UNREACHABLE', `${options.address} (${tlsState(options)}): ${reason}`, 5, { cause });
}

function tlsState({ tls, apiKey }: TemporalConnectionOptions): string {
  return tls || (tls === undefined && apiKey !== undefined) ? 'tls=on' : 'tls=off';
}

function grpcCode(error: unknown): number | undefined {
  const carrier = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return carrier instanceof Error && 'code' in carrier && typeof carrier.code === 'number' ? carrier.code : undefined;
}
