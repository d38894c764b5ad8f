import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { DEV_SERVER_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';

/** The three ports of a dev server. */
export interface DevServerPorts {
  readonly grpc: number;
  readonly ui: number;
  readonly http: number;
}

/** Below the range of outgoing connections, so that none of them, such as a client's reconnect, takes the port of a restarting server. */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const ATTEMPTS_MAX = 50;
const LOCALHOST = '127.0.0.1';

/** What ports a server should have. */
export interface PortChoice {
  /** The host of the Web UI. gRPC and HTTP are on 127.0.0.1. */
  readonly uiHost: string;
  /** Used if free. @default any free ports */
  readonly wanted?: DevServerPorts | undefined;
  /** The gRPC port; the Web UI gets this number and 1,000. Both are used or refused. */
  readonly fixed?: number | undefined;
}

/**
 * Picks three free ports. Another process may take one before the server does. Throws PerdureError `PORT_IN_USE` (2) for a fixed one that
 * is taken.
 */
export async function pickPorts({ uiHost, wanted, fixed }: PortChoice): Promise<DevServerPorts> {
  const isFixed = fixed !== undefined;
  // all are held until the last one is picked, so that they differ
  const held: Server[] = [];
  try {
    held.push(isFixed ? await listenOnFixed(fixed, LOCALHOST) : await listenOnFirst(candidatesFor(wanted?.grpc), LOCALHOST));
    const uiPort = fixed === undefined ? undefined : fixed + DEV_SERVER_LIMITS.uiPortOffset;
    held.push(uiPort === undefined ? await listenOnFirst(candidatesFor(wanted?.ui), uiHost) : await listenOnFixed(uiPort, uiHost));
    held.push(await listenOnFirst(candidatesFor(wanted?.http), LOCALHOST));
    const [grpc = 0, ui = 0, http = 0] = held.map(portOf);
    return { grpc, ui, http };
  } finally {
    for (const server of held) {
      server.close();
      await once(server, 'close');
    }
  }
}

/**
 * The address of the Web UI: a random one of the loopback, as long as the folder has it. A web page can make a browser take the page's own
 * name for 127.0.0.1, and would then reach all that answers there; it cannot try 16 million addresses. Systems without the other
 * addresses, such as macOS, use 127.0.0.1.
 */
export async function pickUiHost(former?: string): Promise<string> {
  // a folder of a system without the other addresses may have been copied here
  const kept = former === LOCALHOST ? undefined : former;
  const host = kept ?? `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
  const probe = createServer().listen(0, host);
  try {
    await once(probe, 'listening');
    return host;
  } catch {
    return LOCALHOST;
  } finally {
    probe.close();
  }
}

async function listenOnFixed(port: number, host: string): Promise<Server> {
  const server = await listenOn(port, host);
  if (server) return server;
  throw new PerdureError('PORT_IN_USE', `port ${port} on ${host} is in use; choose another --port, or omit it`, 2);
}

async function listenOnFirst(candidates: Iterable<number>, host: string): Promise<Server> {
  for (const port of candidates) {
    const server = await listenOn(port, host);
    if (server) return server;
  }
  throw new Error(`no free port on ${host}`);
}

function* candidatesFor(wanted: number | undefined): Iterable<number> {
  if (wanted !== undefined) yield wanted;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) yield randomInt(PORT_MIN, PORT_MAX + 1);
  // port 0: the system picks a port
  yield 0;
}

async function listenOn(port: number, host: string): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, host);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
