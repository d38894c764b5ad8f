import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { AgentClient } from '../../../client/agent-client.js';
import { acceptsTcp } from '../../../worker/temporal/probe.js';
import type { Boundary } from '../child/protocol.js';
import { StateDisk } from './state-disk.js';
import { processesWith } from './stray-processes.js';
import { TcpProxy } from './tcp-proxy.js';
import { TemporalServer } from './temporal-server.js';
import { WorkerProcess } from './worker-process.js';

/** Options of an arena. */
export interface ArenaOptions {
  /** Absolute path of the config file. */
  readonly configFile: string;
  /** The scripted model of the runs. */
  readonly model: string;
  /** Path of the built `worker-main.js`. */
  readonly program: string;
  /** Number of worker processes. */
  readonly workers: number;
  /** Files with workflow code. Worker processes take them in turn. Empty for the package's own code. */
  readonly bundles: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Mounts a tmpfs for the state folder if possible. */
  readonly mount: boolean;
  readonly say: (line: string) => void;
}

/** The place of one worker process: its proxy stays when the process is replaced. */
export interface WorkerSlot {
  readonly proxy: TcpProxy;
  worker: WorkerProcess;
}

/** What is left after an arena was closed, one line each. */
export type Leftovers = readonly string[];

/** Called for each boundary of any worker. */
export type BoundaryHandler = (worker: WorkerProcess, boundary: Boundary) => Promise<void>;

const TASK_QUEUE = 'crash';
const TAG = 'PERDURE_CRASH_ARENA';
const RESTART_AFTER_MS = 200;
/** A busy machine takes a minute; a config with a mistake fails at once, each time. */
const READY_MS_MAX = 300_000;
const FAILED_STARTS_MAX = 4;
const READY_POLL_MS = 50;
const LOG_CHARS_MAX = 2_000;
const STOP_GRACE_MS = 10_000;
const STRAY_WAIT_MS_MAX = 5_000;
const PORT_TIMEOUT_MS = 500;

/**
 * The place where runs are crashed: a folder, a Temporal server, worker processes behind proxies, and clients. A worker process that ends
 * is replaced, as a supervisor does.
 */
export class Arena {
  readonly root: string;
  readonly server: TemporalServer;
  readonly disk: StateDisk;
  readonly slots: WorkerSlot[] = [];
  /** The project's client. */
  readonly agents: AgentClient;
  /** Temporal's own client, without any option of this project. */
  readonly temporal: Client;
  /** Worker processes that ended without a kill while they polled, one line each. */
  readonly surprises: string[] = [];
  onBoundary: BoundaryHandler = () => Promise.resolve();
  readonly #options: ArenaOptions;
  readonly #clientProxy: TcpProxy;
  readonly #log: FileHandle;
  readonly #tag = randomUUID();
  #started = 0;
  #failedStarts = 0;
  #isClosing = false;

  private constructor(options: ArenaOptions, parts: ArenaParts) {
    this.#options = options;
    this.root = parts.root;
    this.server = parts.server;
    this.disk = parts.disk;
    this.agents = parts.agents;
    this.temporal = parts.temporal;
    this.#clientProxy = parts.clientProxy;
    this.#log = parts.log;
  }

  /** Starts server and workers. Resolves when all workers poll. */
  static async open(options: ArenaOptions): Promise<Arena> {
    const arena = new Arena(options, await openParts(options));
    for (let index = 0; index < options.workers; index += 1) {
      const proxy = await TcpProxy.open(() => arena.server.address);
      arena.slots.push({ proxy, worker: arena.#startWorker(proxy) });
    }
    for (const slot of arena.slots) void arena.#keep(slot);
    try {
      await arena.whenReady();
      return arena;
    } catch (error) {
      await arena.close();
      throw error;
    }
  }

  get effectLog(): string {
    return join(this.root, 'effects.jsonl');
  }

  /** The slot of a worker process, also after it was replaced. */
  slotOf(worker: WorkerProcess): WorkerSlot | undefined {
    return this.slots.find((slot) => slot.worker === worker);
  }

  /** Resolves when each slot has a worker process that polls. Throws with the end of the workers' log if they do not start. */
  async whenReady(): Promise<void> {
    const until = Date.now() + READY_MS_MAX;
    const failedBefore = this.#failedStarts;
    while (!this.slots.every(({ worker }) => worker.isReady && worker.isAlive)) {
      const failed = this.#failedStarts - failedBefore;
      if (failed > FAILED_STARTS_MAX || Date.now() > until)
        throw new Error(`the workers do not start: ${(await this.workerLog()).trim().slice(-LOG_CHARS_MAX)}`);
      await delay(READY_POLL_MS);
    }
  }

  /** Resolves when no worker has an open activity of this run, or after `msMax`. */
  async whenIdle(runId: string, msMax: number): Promise<void> {
    const until = Date.now() + msMax;
    const isBusy = ({ worker }: WorkerSlot): boolean => worker.isAlive && worker.open.some((activity) => activity.runId === runId);
    while (this.slots.some(isBusy) && Date.now() < until) await delay(20);
  }

  /** All that workers printed. */
  async workerLog(): Promise<string> {
    return await readFile(join(this.root, 'workers.log'), 'utf8');
  }

  /** Ends everything, and returns what is left. */
  async close(): Promise<Leftovers> {
    this.#isClosing = true;
    await Promise.all(this.slots.map(({ worker }) => worker.stop(STOP_GRACE_MS)));
    const { address } = this.server;
    await this.agents.close();
    await this.temporal.connection.close();
    await this.server.close();
    await Promise.all([...this.slots.map(({ proxy }) => proxy.close()), this.#clientProxy.close()]);
    await this.#log.close();
    await this.disk.close();
    const left = await this.#strays();
    const [host = '', port = ''] = address.split(':');
    if (await acceptsTcp(host, Number(port), PORT_TIMEOUT_MS)) left.push(`port ${port} of the Temporal server still accepts connections`);
    await rm(this.root, { recursive: true, force: true });
    return left;
  }

  async #strays(): Promise<string[]> {
    const until = Date.now() + STRAY_WAIT_MS_MAX;
    let strays = await processesWith(TAG, this.#tag);
    while (strays.length > 0 && Date.now() < until) {
      await delay(100);
      strays = await processesWith(TAG, this.#tag);
    }
    for (const { pid } of strays) process.kill(pid, 'SIGKILL');
    return strays.map(({ pid, command }) => `process ${pid} outlived its worker: ${command}`);
  }

  #startWorker(proxy: TcpProxy): WorkerProcess {
    const { configFile, model, program, env, bundles } = this.#options;
    const bundleFile = bundles[this.#started % Math.max(1, bundles.length)];
    this.#started += 1;
    return new WorkerProcess({
      program,
      settings: {
        configFile,
        model,
        address: proxy.address,
        namespace: this.server.namespace,
        taskQueue: TASK_QUEUE,
        stateDir: this.disk.folder,
        effectLog: this.effectLog,
        ...(bundleFile === undefined ? {} : { bundleFile }),
      },
      env: { ...env, [TAG]: this.#tag },
      logFd: this.#log.fd,
      onBoundary: (worker, boundary) => this.onBoundary(worker, boundary),
    });
  }

  /** Replaces the worker process of a slot whenever it ends. */
  async #keep(slot: WorkerSlot): Promise<void> {
    while (!this.#isClosing) {
      const { worker } = slot;
      const end = await worker.ended;
      if (this.#isClosing) return;
      if (!worker.isReady && !worker.killed) this.#failedStarts += 1;
      if (worker.isReady && !worker.killed) this.surprises.push(`worker ${worker.pid} ended by itself with ${end}`);
      // a worker that cannot start is tried again later, a killed one at once
      if (!worker.killed) await delay(RESTART_AFTER_MS);
      if (!this.#isClosing) slot.worker = this.#startWorker(slot.proxy);
    }
  }
}

interface ArenaParts {
  readonly root: string;
  readonly server: TemporalServer;
  readonly disk: StateDisk;
  readonly agents: AgentClient;
  readonly temporal: Client;
  readonly clientProxy: TcpProxy;
  readonly log: FileHandle;
}

async function openParts({ mount, say }: ArenaOptions): Promise<ArenaParts> {
  const root = await mkdtemp(join(tmpdir(), 'perdure-crash-'));
  const serverDir = join(root, 'server');
  await mkdir(serverDir);
  await writeFile(join(root, 'effects.jsonl'), '');
  const server = await TemporalServer.open(serverDir, say).catch(async (error: unknown) => {
    await rm(root, { recursive: true, force: true });
    throw error;
  });
  const disk = await StateDisk.open(join(root, 'state'), { mount });
  // a proxy that is never cut: the address of the clients stays when the server gets another port
  const clientProxy = await TcpProxy.open(() => server.address);
  const { address } = clientProxy;
  const agents = await AgentClient.connect({ address, taskQueue: TASK_QUEUE });
  const temporal = new Client({ connection: await Connection.connect({ address }) });
  const log = await open(join(root, 'workers.log'), 'a');
  return { root, server, disk, agents, temporal, clientProxy, log };
}
