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
