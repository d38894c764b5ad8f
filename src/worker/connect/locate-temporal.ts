import { PerdureError } from '../../contracts/perdure-error.js';
import { openDevServer } from '../dev-server/dev-server.js';
import { isServerAlive, readDevServerRecord } from '../dev-server/record.js';
import { acceptsTcp } from '../temporal/probe.js';
import { checkNamespace, hasPollers, parseAddress, type TemporalConnectionOptions } from './check-connection.js';

/** What the caller knows of where Temporal is. */
export interface LocateOptions {
  /** From a flag: goes before everything else. */
  readonly address?: string;
  /** From a flag. @default the profile's, else `default` */
  readonly namespace?: string;
  /** A server on localhost:7233 is ours only if somebody polls this queue there. */
  readonly taskQueue: string;
  readonly stateDir: string;
  /** Told what takes long. */
  readonly say: (line: string) => void;
  /** False: never start or adopt the folder's own server. @default true */
  readonly allowEmbedded?: boolean;
  /** @default the process's own */
  readonly env?: NodeJS.ProcessEnv;
}

/** The Temporal server to use. */
export interface TemporalLocation {
  /** `embedded`: the folder's own dev server · `configured`: any other. */
  readonly kind: 'configured' | 'embedded';
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: TemporalConnectionOptions;
  /** Where the Web UI is, when known. */
  readonly uiUrl?: string;
  /** Says that this process no longer needs an embedded server; does nothing for a configured one. */
  close(): Promise<void>;
}

const DEFAULT_NAMESPACE = 'default';
const LOCAL_HOST = 'localhost';
const LOCAL_PORT = 7233;
const LOCAL_UI_URL = 'http://localhost:8233';
const LOCAL_TIMEOUT_MS = 500;

/**
 * Finds the Temporal server: the flag, then `TEMPORAL_*` variables and `temporal.toml`, then this folder's live server, then
 * localhost:7233 if somebody polls our queue there, else the folder's own server is started. What it returns has answered and
 * has the namespace. Throws PerdureError `TEMPORAL_ADDRESS` (2), `TEMPORAL_UNREACHABLE`, `TEMPORAL_REFUSED` (5),
 * `NAMESPACE_NOT_FOUND` (3) within 5 s, or what openDevServer throws.
 */
export async function locateTemporal(options: LocateOptions): Promise<TemporalLocation> {
  const profile = await loadProfile(options.env ?? process.env);
  const namespace = options.namespace ?? profile.namespace ?? DEFAULT_NAMESPACE;
  const address = options.address ?? profile.connection.address;
  if (address !== undefined) return configured({ ...profile.connection, address: parseAddress(address).address }, namespace);
  const allowEmbedded = options.allowEmbedded ?? true;
  if (allowEmbedded && (await hasLiveServer(options.stateDir))) return embedded(options, namespace);
  const local = await localWithPollers(namespace, options.taskQueue);
  if (local) return local;
  if (allowEmbedded) return embedded(options, namespace);
  throw new PerdureError('TEMPORAL_ADDRESS', 'no Temporal server is named: set TEMPORAL_ADDRESS or give --address host:port', 2);
}

async function configured(connectionOptions: TemporalConnectionOptions, namespace: string): Promise<TemporalLocation> {
  await checkNamespace(connectionOptions, namespace);
  return { kind: 'configured', address: connectionOptions.address, namespace, connectionOptions, close: async () => {} };
}

async function embedded(options: LocateOptions, namespace: string): Promise<TemporalLocation> {
  const server = await openDevServer(options);
  const { address, uiUrl } = server;
  if (namespace !== server.namespace) {
    await server.close();
    throw new PerdureError(
      'NAMESPACE_NOT_FOUND',
      `${namespace}: this folder's own server has only ${server.namespace}; name another server with TEMPORAL_ADDRESS`,
      3,
    );
  }
  return { kind: 'embedded', address, namespace, uiUrl, connectionOptions: { address }, close: () => server.close() };
}

async function localWithPollers(namespace: string, taskQueue: string): Promise<TemporalLocation | undefined> {
  if (!(await acceptsTcp(LOCAL_HOST, LOCAL_PORT, LOCAL_TIMEOUT_MS))) return undefined;
  const connectionOptions = { address: `${LOCAL_HOST}:${LOCAL_PORT}` };
  if (!(await hasPollers(connectionOptions, namespace, taskQueue))) return undefined;
  const { address } = connectionOptions;
  return { kind: 'configured', address, namespace, uiUrl: LOCAL_UI_URL, connectionOptions, close: async () => {} };
}

async function hasLiveServer(stateDir: string): Promise<boolean> {
  const record = await readDevServerRecord(stateDir);
  return record !== undefined && isServerAlive(stateDir, record);
}

/** What the SDK's own variables and profiles say. An empty variable counts as unset. */
async function loadProfile(env: NodeJS.ProcessEnv): Promise<{ connection: Partial<TemporalConnectionOptions>; namespace?: string }> {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const variables = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const { connectionOptions, namespace } = readProfile(() => loadClientConnectConfig({ overrideEnvVars: variables }));
  const { address, apiKey, tls, metadata } = connectionOptions;
  return {
    connection: {
      ...(address !== undefined && { address }),
      ...(apiKey !== undefined && { apiKey }),
      ...(tls !== undefined && { tls }),
      ...(metadata && { metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, String(value)])) }),
    },
    ...(namespace !== undefined && { namespace }),
  };
}

function readProfile<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PerdureError('TEMPORAL_CONFIG', `the TEMPORAL_* variables or temporal.toml cannot be used: ${reason}`, 2, { cause: error });
  }
}
