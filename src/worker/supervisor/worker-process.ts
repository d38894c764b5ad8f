import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { passEnvironment } from '../hosting/passed-environment.js';
import { HeldRuns } from './held-runs.js';
import {
  type EmbeddedHosting,
  isMessage,
  type SharedHosting,
  SUPERVISED_VARIABLE,
  type TurnMessage,
  type WorkerMessage,
} from './messages.js';

/** How a worker process ended. */
export interface WorkerEnd {
  /** The exit status: the process's own, or 128 and the number of the signal that killed it. */
  readonly status: number;
  /** True if the process ended on its own, with `status`. */
  readonly hasExited: boolean;
  /** In words, such as `killed by SIGKILL`. */
  readonly cause: string;
  /** How long it worked, in milliseconds. Undefined if it never did. */
  readonly workedMs: number | undefined;
}

/** The pipe of a dead process is read to its end for at most this time. A process that inherited it would keep it open. */
const DRAIN_MS_MAX = 500;
const NOT_STARTED = 127;
/** The descriptor of the environment, behind that of the messages. */
const ENVIRONMENT = 4;

/** A worker process as its supervisor sees it. */
export class WorkerProcess {
  /** Resolves when it is gone and all its messages were read. Never rejects. */
  readonly ended: Promise<WorkerEnd>;
  /** Resolves when it works. Never settles if it ends before. */
  readonly working: Promise<void>;
  readonly held = new HeldRuns();
  readonly #child: ChildProcess;
  #hosting: SharedHosting | EmbeddedHosting | undefined;
  #workingSince: number | undefined;

  /** Starts the process: a program and its arguments. It shares the output of this process. */
  constructor([program, ...args]: readonly [string, ...string[]]) {
    const passed = passEnvironment({ ...process.env, [SUPERVISED_VARIABLE]: '1' }, ENVIRONMENT);
    this.#child = spawn(program, args, {
      // the pipe also tells the worker when this process dies
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', passed.stdio],
      env: passed.env,
      // connection options contain certificates, which JSON would lose
      serialization: 'advanced',
    });
    passed.send(this.#child);
    this.ended = this.#untilEnded();
    // it closes the link once it has stopped; what keeps it from its exit then must not keep its runs waiting
    this.#child.once('disconnect', () => setTimeout(() => this.signal('SIGKILL'), HOSTING_LIMITS.exitMs).unref());
    this.working = new Promise((resolve) => {
      this.#child.on('message', (message: unknown) => this.#receive(message, resolve));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Where it works. Undefined until it was loaded and connected. */
  get hosting(): SharedHosting | EmbeddedHosting | undefined {
    return this.#hosting;
  }

  /** Lets the process poll. */
  takeTurn(): void {
    // dropped if the process has just died: `ended` reports that
    this.#child.send({ type: 'turn' } satisfies TurnMessage, () => undefined);
  }

  /** Sends a signal. Does nothing if the process is gone. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(name);
  }

  #receive(message: unknown, onWorking: () => void): void {
    if (isMessage<Extract<WorkerMessage, { type: 'ready' }>>(message, 'ready')) {
      this.#hosting = message.hosting;
    } else if (isMessage<Extract<WorkerMessage, { type: 'working' }>>(message, 'working')) {
      this.#workingSince = Date.now();
      onWorking();
    } else if (isMessage<Extract<WorkerMessage, { type: 'started' }>>(message, 'started')) {
      this.held.started(message.call);
    } else if (isMessage<Extract<WorkerMessage, { type: 'ended' }>>(message, 'ended')) {
      this.held.ended(message.call, Date.now());
    }
  }

  async #untilEnded(): Promise<WorkerEnd> {
    const drained = new Promise((resolve) => {
      this.#child.once('disconnect', resolve);
    });
    // an `error` event means that the process was not started; without the listener it would end this process
    const [code, signal, problem] = await new Promise<[number | null, NodeJS.Signals | null, string?]>((resolve) => {
      this.#child.once('exit', (exitCode, exitSignal) => resolve([exitCode, exitSignal]));
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) resolve([NOT_STARTED, null, error.message]);
      });
    });
    const workedMs = this.#workingSince === undefined ? undefined : Date.now() - this.#workingSince;
    if (this.#child.connected) await Promise.race([drained, pause(DRAIN_MS_MAX)]);
    if (signal !== null) {
      return { status: 128 + (constants.signals[signal] ?? 0), hasExited: false, cause: `killed by ${signal}`, workedMs };
    }
    const status = code ?? NOT_STARTED;
    return { status, hasExited: true, cause: problem === undefined ? `exit status ${status}` : `not started: ${problem}`, workedMs };
  }
}
