import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { openDevServer } from '../dev-server/dev-server.js';
import { answersAsRecorded, readDevServerRecord, recordedServer } from '../dev-server/record.js';
import { acceptsTcp } from '../temporal/probe.js';
import { checkNamespace, hasPollers, parseAddress, type TemporalConnectionOptions } from './check-connection.js';

/** Options of `locateTemporal`. */
export interface LocateOptions {
  /** From a flag. Takes precedence over everything else. */
  readonly address?: string;
  /** From a flag. @default the namespace of the profile, else `default` */
  readonly namespace?: string;
  /** A server on localhost:7233 is used only if a worker polls this task queue. */
  readonly taskQueue: string;
  readonly stateDir: string;
  /** From a flag: the port of the embedded server, which is then the only server to use. @default the port of its last start if free */
  readonly port?: number | undefined;
  /** Receives notices about slow steps. */
  readonly say: (line: string) => void;
  /** If false, the embedded server is neither started nor used. @default true */
  readonly allowEmbedded?: boolean;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
}

/** The Temporal server to use. */
export interface TemporalLocation {
  /** `embedded`: the dev server of the folder · `configured`: any other server. */
  readonly kind: 'configured' | 'embedded';
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: TemporalConnectionOptions;
  /** The address of the Web UI, if known. */
  readonly uiUrl?: string;
  /** Unregisters this process as a user of the embedded server. Does nothing for a configured one. */
  close(): Promise<void>;
}

const DEFAULT_NAMESPACE = 'default';
const LOCAL_HOST = 'localhost';
const LOCAL_PORT = 7233;
const LOCAL_UI_URL = 'http://localhost:8233';
const LOCAL_TIMEOUT_MS = 500;

/**
 * Finds the Temporal server, in this order: the flag; `TEMPORAL_*` variables and `temporal.toml`; the running embedded server of the
 * folder; localhost:7233, if a worker polls the task queue there; a new embedded server. The returned server has answered and has the
 * namespace. Throws PerdureError `TEMPORAL_ADDRESS` (2), `TEMPORAL_UNREACHABLE`, `TEMPORAL_REFUSED` (5) or `NAMESPACE_NOT_FOUND` (3)
 * within 5 s, `PERDURE_UI_URL` or `BAD_OPTION` (2), or an error of openDevServer. `PERDURE_UI_URL` names the Web UI of any of them.
 */
export async function locateTemporal(options: LocateOptions): Promise<TemporalLocation> {
  const env = options.env ?? process.env;
  const uiUrl = namedUiUrl(env);
  const location = await findServer(options, env);
  return uiUrl === undefined ? location : { ...location, uiUrl };
}

async function findServer(options: LocateOptions, env: NodeJS.ProcessEnv): Promise<TemporalLocation> {
  const profile = await loadProfile(env);
  const namespace = options.namespace ?? profile.namespace ?? DEFAULT_NAMESPACE;
  const address = options.address ?? profile.connection.address;
  if (address !== undefined && options.port !== undefined) throw portOfOther(address);
  if (address !== undefined) return configured({ ...profile.connection, address: parseAddress(address).address }, namespace);
  const allowEmbedded = options.allowEmbedded ?? true;
  if (allowEmbedded && (options.port !== undefined || (await hasLiveServer(options)))) return embedded(options, namespace);
  const local = await localWithPollers(namespace, options.taskQueue);
  if (local) return local;
  if (allowEmbedded) return embedded(options, namespace);
  throw new PerdureError('TEMPORAL_ADDRESS', 'no Temporal server is configured; set TEMPORAL_ADDRESS or --address host:port', 2);
}

function portOfOther(address: string): PerdureError {
  const message = `port: only the embedded server takes a port, but TEMPORAL_ADDRESS, --address or temporal.toml names ${echoValue(address)}`;
  return new PerdureError('BAD_OPTION', message, 2);
}

/** The address of the Web UI in `PERDURE_UI_URL`, without a slash at its end. */
function namedUiUrl({ PERDURE_UI_URL: given = '' }: NodeJS.ProcessEnv): string | undefined {
  if (given.trim() === '') return undefined;
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  const isUsable =
    url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
  if (isUsable) return `${url.origin}${url.pathname}`.replace(/\/+$/u, '');
  throw new PerdureError(
    'PERDURE_UI_URL',
    `use the address of the Web UI, such as https://temporal.example.com, got ${echoValue(given)}`,
    2,
  );
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
      `${namespace} does not exist; the embedded server has only ${server.namespace}. Set TEMPORAL_ADDRESS to use another server.`,
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

async function hasLiveServer({ stateDir, say }: LocateOptions): Promise<boolean> {
  const record = await readDevServerRecord(stateDir, say);
  if (!record) return false;
  const named = recordedServer(stateDir, record);
  return named === 'elsewhere' ? answersAsRecorded(record, LOCAL_TIMEOUT_MS) : named === 'server' || named === 'unknown';
}

/** Reads the environment variables and profiles of the Temporal SDK. An empty variable counts as unset. */
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
    throw new PerdureError('TEMPORAL_CONFIG', `invalid TEMPORAL_* variables or temporal.toml: ${reason}`, 2, { cause: error });
  }
}
