import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a server that a test can cut and heal. */
export interface CutProxy {
  readonly address: string;
  /** Ends every connection and takes none, as a server does that is down. */
  cut(): void;
  /** Keeps every connection and passes nothing on, as a network does that loses all packets. New connections get no answer. */
  stall(): void;
  heal(): void;
  close(): Promise<void>;
}

/** Passes connections on to `target` (`host:port`) until it is cut. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let isCut = false;
  let isStalled = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // a cut connection ends with an error on either side
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (isCut) return void client.destroy();
    if (isStalled) return void client.pause();
    const upstream = connect(Number(port), host);
    keep(upstream);
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${address.port}`,
    cut: () => {
      isCut = true;
      end();
    },
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    heal: () => {
      // connections that stalled stay useless, as those of a real network may: both sides notice and connect again
      if (isStalled) end();
      isCut = false;
      isStalled = false;
    },
    close: async () => {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
