import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** State of a proxy: `open` passes data on, `silent` holds all data back, `refusing` ends every connection. */
export type ProxyState = 'open' | 'silent' | 'refusing';

const STATE_POLL_MS = 20;

/**
 * A TCP proxy on the loopback interface that can be cut. `silent` is what a partition looks like from both ends: connections stay open and
 * nothing arrives. Held data arrives in order after `heal`.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: ProxyState = 'open';
  #delayMs = 0;

  private constructor(target: () => string) {
    this.#server = createServer((client) => void this.#serve(client, target));
  }

  /** Opens a proxy on a free port. `target` gives the current `host:port` for each new connection. */
  static async open(target: () => string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** `host:port` of the proxy. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed');
    return `127.0.0.1:${address.port}`;
  }

  cut(state: Exclude<ProxyState, 'open'>): void {
    this.#state = state;
    if (state === 'refusing') this.#endAll();
  }

  heal(): void {
    this.#state = 'open';
    this.#delayMs = 0;
  }

  /** Delays all data by this time, in both directions. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  async close(): Promise<void> {
    this.#state = 'refusing';
    this.#endAll();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(client: Socket, target: () => string): Promise<void> {
    this.#keep(client);
    if (!(await this.#whenOpen(client))) return void client.destroy();
    const [host = '', port = ''] = target().split(':');
    const upstream = connect(Number(port), host);
    this.#keep(upstream);
    this.#pass(client, upstream);
    this.#pass(upstream, client);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // a cut connection ends with an error on either side
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #pass(from: Socket, to: Socket): void {
    let passed = Promise.resolve();
    const pass = async (before: Promise<void>, data: Buffer, dueAt: number): Promise<void> => {
      await before;
      if (dueAt > Date.now()) await delay(dueAt - Date.now());
      if (await this.#whenOpen(to)) to.write(data);
    };
    from.on('data', (data: Buffer) => {
      passed = pass(passed, data, Date.now() + this.#delayMs);
    });
    // the end is passed on after the data before it
    from.on('close', () => void passed.then(() => to.destroy()));
  }

  /** Waits while the proxy is silent. False if the connection has ended or is refused. */
  async #whenOpen(socket: Socket): Promise<boolean> {
    while (this.#state === 'silent' && !socket.destroyed) await delay(STATE_POLL_MS);
    return this.#state === 'open' && !socket.destroyed;
  }

  #endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
