import { once } from 'node:events';
import type { Server } from 'node:http';
import { afterEach } from 'vitest';

/** A list for the HTTP servers of a test: after it, each of them ends, with its connections. */
export function useHttpServers(): Server[] {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  return servers;
}

/** The address of a server that was told to listen, once it does. */
export async function addressOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/mcp`;
}
