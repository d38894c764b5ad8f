import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** The three ports of a dev server on 127.0.0.1. */
export interface DevServerPorts {
  readonly grpc: number;
  readonly ui: number;
  readonly http: number;
}

/** Below the range of outgoing connections: none of those, not even a client's own attempt to reconnect, takes the port of a server that restarts. */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const TRIES_MAX = 50;

/** Three ports that are free now: each wanted one if it is, else any. Another process may take one before the server does. */
export async function pickPorts(wanted?: DevServerPorts): Promise<DevServerPorts> {
  // held together until all are known, so that they differ
  const held: Server[] = [];
  for (const port of [wanted?.grpc, wanted?.ui, wanted?.http]) held.push(await listenOnFirst(candidatesFor(port)));
  const [grpc = 0, ui = 0, http = 0] = held.map(portOf);
  for (const server of held) {
    server.close();
    await once(server, 'close');
  }
  return { grpc, ui, http };
}

async function listenOnFirst(candidates: Iterable<number>): Promise<Server> {
  for (const port of candidates) {
    const server = await listenOn(port);
    if (server) return server;
  }
  throw new Error('no free port on 127.0.0.1');
}

function* candidatesFor(wanted: number | undefined): Iterable<number> {
  if (wanted !== undefined) yield wanted;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) yield randomInt(PORT_MIN, PORT_MAX + 1);
  // any port the system gives
  yield 0;
}

async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
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
