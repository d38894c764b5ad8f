import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** The three ports of a dev server on 127.0.0.1. */
export interface DevServerPorts {
  readonly grpc: number;
  readonly ui: number;
  readonly http: number;
}

/** Three ports that are free now: each wanted one if it is, else any. Another process may take one before the server does. */
export async function pickPorts(wanted?: DevServerPorts): Promise<DevServerPorts> {
  // held together until all are known, so that they differ
  const held = [await listenOn(wanted?.grpc), await listenOn(wanted?.ui), await listenOn(wanted?.http)] as const;
  const [grpc, ui, http] = held.map(portOf);
  for (const server of held) {
    server.close();
    await once(server, 'close');
  }
  if (!grpc || !ui || !http) throw new Error('no free port on 127.0.0.1');
  return { grpc, ui, http };
}

async function listenOn(wanted: number | undefined): Promise<Server> {
  const server = createServer();
  server.listen(wanted ?? 0, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (wanted === undefined) throw error;
    return listenOn(undefined);
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
