import { setTimeout as delay } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ELICITATION_LIMITS, MCP_LIMITS } from '../../contracts/constants/limits.js';
import type { McpServer, McpServers } from '../../define/worker/mcp-servers.js';
import { rejectedBy } from '../../providers/http/abortable.js';
import { withinTime } from '../runtime/call-signal.js';
import { steadyMs } from '../runtime/steady-clock.js';
import { McpConnection, type McpRequests } from './connection.js';
import { openHttpTransport } from './http-transport.js';
import { type McpSurroundings, openProcess } from './open-process.js';

/** One server, or one for each workspace, which all runs of the worker share. */
interface Entry {
  /** The run that it belongs to, if its server may request something of it. */
  readonly owner: Owner | undefined;
  connecting: Promise<McpConnection> | undefined;
  connection: McpConnection | undefined;
  /** Failed starts since the last success. */
  failures: number;
  /** No start before this time, on the clock of `steadyMs`. */
  notBeforeMs: number;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** A run, and what a server may request of it. */
interface Owner extends McpRequests {
  readonly run: string;
}

/** What needs a server. */
export interface McpPlace {
  readonly workspace: string | undefined;
  /** Ends the wait for a server that starts. */
  readonly signal: AbortSignal;
  /** The run of which the server may request something. A server that does has connections for this run alone. */
  readonly run?: AskedRun | undefined;
}

/** A run that takes questions of its calls. `samples`: it also answers their requests for completions. */
export interface AskedRun {
  readonly id: string;
  readonly samples: boolean;
}

/** Options of the pool. */
export interface McpPoolOptions extends McpSurroundings {
  readonly servers: McpServers;
  /** @default MCP_LIMITS.idleMs */
  readonly idleMs?: number;
}

/**
 * The MCP servers of a worker. Each is started by the first call that needs it, and again by the first call after it was lost, with
 * increasing waits after failures. It is ended when no call used it for five minutes; the system ends it with this process.
 */
export class McpPool {
  readonly #options: McpPoolOptions;
  readonly #entries = new Map<string, Entry>();
  /** Servers that are being ended because nobody uses them. */
  readonly #ending = new Set<Promise<void>>();
  /** Ends the starts under way. */
  #closing = new AbortController();

  constructor(options: McpPoolOptions) {
    this.#options = options;
  }

  /** The definition of a server; undefined for an unknown name. */
  definition(name: string): McpServer | undefined {
    const { servers } = this.#options;
    return Object.hasOwn(servers, name) ? servers[name] : undefined;
  }

  /**
   * Gives `work` the connection of a server, which it waits for. Rejects with the reason if the server cannot be started, and when the
   * signal aborts meanwhile: the start goes on for others.
   */
  async use<Result>(
    name: string,
    { workspace, signal, run }: McpPlace,
    work: (connection: McpConnection) => Promise<Result>,
  ): Promise<Result> {
    const server = this.definition(name);
    if (!server) throw new Error(`no MCP server is named ${JSON.stringify(name)} on this worker`);
    const folder = folderOf(server, workspace);
    const owner = ownerOf(server, run);
    const key = this.#freeKey(name, folder, owner);
    const entry = this.#entries.get(key) ?? newEntry(owner);
    this.#entries.set(key, entry);
    clearTimeout(entry.idle);
    entry.users += 1;
    try {
      const connected = this.#connected(entry, () => this.#open(server, folder, { listens: owner !== undefined }));
      // a start that fails is told to those who wait for it
      connected.catch(() => undefined);
      return await work(await Promise.race([connected, rejectedBy(signal)]));
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#endLater(key, entry);
    }
  }

  /** The connection of a server that answers now; undefined without one. */
  connectionOf(name: string, { workspace, run }: Pick<McpPlace, 'workspace' | 'run'>): McpConnection | undefined {
    const server = this.definition(name);
    const key = server && keyOf(name, folderOf(server, workspace), ownerOf(server, run));
    const connection = key === undefined ? undefined : this.#entries.get(key)?.connection;
    return connection?.isLost ? undefined : connection;
  }

  /** Ends all servers, also those that have not answered yet. Later calls start them again. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the worker ends'));
    this.#closing = new AbortController();
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const { idle } of entries) clearTimeout(idle);
    await Promise.all([
      ...entries.map(async ({ connecting, connection }) => await ((await connecting?.catch(() => undefined)) ?? connection)?.close()),
      ...this.#ending,
    ]);
  }

  /** The key of an entry. A connection that may ask makes one call at a time, so that a question belongs to one call: more calls have more. */
  #freeKey(name: string, folder: string | undefined, owner: Owner | undefined): string {
    for (let nth = 0; ; nth += 1) {
      const key = keyOf(name, folder, owner, nth);
      if (owner === undefined || (this.#entries.get(key)?.users ?? 0) === 0) return key;
    }
  }

  async #connected(entry: Entry, open: () => Promise<Transport>): Promise<McpConnection> {
    if (entry.connection && !entry.connection.isLost) return entry.connection;
    entry.connecting ??= this.#connect(entry, open).finally(() => {
      entry.connecting = undefined;
    });
    return await entry.connecting;
  }

  async #connect(entry: Entry, open: () => Promise<Transport>): Promise<McpConnection> {
    const { signal: closing } = this.#closing;
    const waitMs = entry.notBeforeMs - steadyMs();
    if (waitMs > 0) await delay(waitMs, undefined, { signal: closing });
    try {
      const connection = await McpConnection.open(open, withinTime([closing], MCP_LIMITS.connectTimeoutMs), entry.owner);
      entry.failures = 0;
      entry.connection = connection;
      return connection;
    } catch (error) {
      const backoffMs = Math.min(MCP_LIMITS.backoffMs * 2 ** entry.failures, MCP_LIMITS.backoffMsMax);
      entry.failures += 1;
      entry.notBeforeMs = steadyMs() + backoffMs;
      throw error;
    }
  }

  async #open(server: McpServer, workspace: string | undefined, { listens }: { readonly listens: boolean }): Promise<Transport> {
    return 'url' in server
      ? await openHttpTransport(server, this.#options.keys, { listens })
      : await openProcess(server, workspace, this.#options);
  }

  #endLater(key: string, entry: Entry): void {
    const idleMs = this.#options.idleMs ?? MCP_LIMITS.idleMs;
    const isOwned = entry.owner !== undefined;
    entry.idle = setTimeout(
      () => {
        if (entry.failures === 0 || isOwned) this.#entries.delete(key);
        const ended = closeIdle(entry).finally(() => this.#ending.delete(ended));
        this.#ending.add(ended);
      },
      isOwned ? Math.min(idleMs, ELICITATION_LIMITS.idleMs) : idleMs,
    ).unref();
  }
}

/** Ends the server of an entry, also one that is still starting. A call that came meanwhile keeps it. Never rejects. */
async function closeIdle(entry: Entry): Promise<void> {
  const [started] = await Promise.allSettled([entry.connecting]);
  const connection = started.status === 'fulfilled' ? (started.value ?? entry.connection) : undefined;
  if (entry.users === 0) await connection?.close();
}

/** The workspace, for a server that has a process for each. */
function folderOf(server: McpServer, workspace: string | undefined): string | undefined {
  return 'command' in server && server.workspace ? workspace : undefined;
}

/** The run as the owner of a connection, if the server may request something of it. */
function ownerOf({ elicitation = false, sampling = false }: McpServer, run: AskedRun | undefined): Owner | undefined {
  const samples = sampling !== false && run?.samples === true;
  return run && (elicitation || samples) ? { run: run.id, elicits: elicitation, samples } : undefined;
}

function keyOf(name: string, folder: string | undefined, owner: Owner | undefined, nth = 0): string {
  return JSON.stringify([name, folder, owner, nth]);
}

function newEntry(owner: Owner | undefined): Entry {
  return { owner, connecting: undefined, connection: undefined, failures: 0, notBeforeMs: 0, users: 0, idle: undefined };
}
