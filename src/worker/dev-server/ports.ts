import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

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

/** Picks three free ports: the wanted ones if free, else any. Another process may take one before the server does. */
export async function pickPorts(wanted?: DevServerPorts): Promise<DevServerPorts> {
  // all are held until the last one is picked, so that they differ
  const held: Server[] = [];
  for (const port of [wanted?.grpc, wanted?.ui, wanted?.http]) held.push(await listenOnFirst(candidatesFor(port)));
  const [grpc = 0, ui = 0, http = 0] = held.map(portOf);
  for (const server of held) {
    server.close();
    await once(server, 'close');
  }
  return { grpc, ui, http };
}

/**
 * The address of the Web UI: a random one of the loopback, as long as the folder has it. A web page can make a browser take the page's own
 * name for 127.0.0.1, and would then reach all that answers there; it cannot try 16 million addresses. Systems without the other
 * addresses, such as macOS, use 127.0.0.1.
 */
export async function pickUiHost(former?: string): Promise<string> {
  const host = former ?? `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
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

async function listenOnFirst(candidates: Iterable<number>): Promise<Server> {
  for (const port of candidates) {
    const server = await listenOn(port);
    if (server) return server;
  }
  throw new Error(`no free port on ${LOCALHOST}`);
}

function* candidatesFor(wanted: number | undefined): Iterable<number> {
  if (wanted !== undefined) yield wanted;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) yield randomInt(PORT_MIN, PORT_MAX + 1);
  // port 0: the system picks a port
  yield 0;
}

async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, LOCALHOST);
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
