import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { type Boundary, FromWorker, type ToolFacts, type ToWorker, type WorkerSettings } from '../child/protocol.js';

/** Options of a worker process. */
export interface WorkerProcessOptions {
  /** Path of the built `worker-main.js`. */
  readonly program: string;
  readonly settings: WorkerSettings;
  readonly env: NodeJS.ProcessEnv;
  /** File descriptor for what it prints. */
  readonly logFd: number;
  /** Called for each boundary. The process waits there until the promise resolves. */
  readonly onBoundary: (worker: WorkerProcess, boundary: Boundary) => Promise<void>;
}

/** An activity that a worker process has started and not reported. */
export type OpenActivity = Pick<Boundary, 'activity' | 'tool' | 'runId' | 'point'>;

/** One worker process of the harness. */
export class WorkerProcess {
  readonly child: ChildProcess;
  /** Resolves when it polls, or has ended. */
  readonly ready: Promise<void>;
  /** Resolves with the exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** True after a kill by the harness: its end is no surprise. */
  killed = false;
  isReady = false;
  /** The tools of its config, once it is ready. */
  tools: readonly ToolFacts[] = [];
  isStopped = false;
  readonly #open: OpenActivity[] = [];
  readonly #events = new EventEmitter<{ ready: [] }>();

  constructor({ program, settings, env, logFd, onBoundary }: WorkerProcessOptions) {
    const stdio = ['ignore', logFd, logFd, 'ipc'] as const;
    this.child = spawn(process.execPath, [program, JSON.stringify(settings)], { env, stdio: [...stdio] });
    this.ended = once(this.child, 'exit').then(([code, signal]: (number | NodeJS.Signals | null)[]) => signal ?? code ?? null);
    this.ready = Promise.race([once(this.#events, 'ready'), this.ended]).then(() => undefined);
    this.child.on('message', (given) => {
      const message = FromWorker.parse(given);
      if (message.kind === 'ready') {
        this.isReady = true;
        this.tools = message.tools;
        this.#events.emit('ready');
        return;
      }
      this.#track(message.boundary);
      void this.#pass(message, onBoundary);
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The activities that it has started and not reported, with the boundary that each passed last. */
  get open(): readonly OpenActivity[] {
    return this.#open;
  }

  /** Sends a message. A process that has just ended gets none. */
  tell(message: ToWorker): void {
    if (this.isAlive && this.child.connected) this.child.send(message, () => undefined);
  }

  /** Sends a signal. SIGKILL and SIGTERM count as ended by the harness. */
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.killed ||= signal === 'SIGKILL' || signal === 'SIGTERM';
    this.isStopped = signal === 'SIGSTOP' || (this.isStopped && signal !== 'SIGCONT');
    this.child.kill(signal);
  }

  /** Stops it: SIGTERM, then SIGKILL after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  async #pass(
    { boundary, ticket }: Extract<FromWorker, { kind: 'boundary' }>,
    onBoundary: WorkerProcessOptions['onBoundary'],
  ): Promise<void> {
    await onBoundary(this, boundary);
    if (ticket !== undefined) this.tell({ kind: 'go', ticket });
  }

  #track(boundary: Boundary): void {
    const isSame = (one: OpenActivity): boolean =>
      one.activity === boundary.activity && one.tool === boundary.tool && one.runId === boundary.runId;
    const index = this.#open.findIndex(isSame);
    if (boundary.point === 'before') this.#open.push({ ...boundary });
    else if (boundary.point === 'reported') this.#open.splice(index, index === -1 ? 0 : 1);
    else if (index !== -1) this.#open[index] = { ...boundary };
  }
}
