import { setTimeout as delay } from 'node:timers/promises';
import { stopProcess } from '../../../process/process-identity.js';
import { type DevServer, openDevServer } from '../../../worker/dev-server/dev-server.js';
import { readDevServerRecord } from '../../../worker/dev-server/record.js';

/** The embedded Temporal server of an arena, started by the project's own resolver. It can be killed and restarted on its database. */
export class TemporalServer {
  readonly #folder: string;
  readonly #say: (line: string) => void;
  #server: DevServer;

  private constructor(folder: string, say: (line: string) => void, server: DevServer) {
    this.#folder = folder;
    this.#say = say;
    this.#server = server;
  }

  static async open(folder: string, say: (line: string) => void): Promise<TemporalServer> {
    return new TemporalServer(folder, say, await openDevServer({ stateDir: folder, say }));
  }

  /** `host:port`; the same after a restart, unless another process took the port. */
  get address(): string {
    return this.#server.address;
  }

  get namespace(): string {
    return this.#server.namespace;
  }

  /** Kills the server with SIGKILL. Resolves when it is dead. */
  async kill(): Promise<void> {
    await this.#endProcesses();
  }

  /** Starts the killed server on its database and port after `afterMs`. Resolves when it answers. */
  async restart(afterMs: number): Promise<void> {
    await delay(afterMs);
    const former = this.#server;
    this.#server = await openDevServer({ stateDir: this.#folder, say: this.#say });
    await former.close();
  }

  /** Ends server and keeper. */
  async close(): Promise<void> {
    await this.#server.close();
    await this.#endProcesses();
  }

  async #endProcesses(): Promise<void> {
    const record = await readDevServerRecord(this.#folder);
    if (!record) return;
    // the keeper first, because it restarts a dead server
    await stopProcess(record.keeperPid, record.keeperStart, 0);
    await stopProcess(record.serverPid, record.serverStart, 0);
  }
}
