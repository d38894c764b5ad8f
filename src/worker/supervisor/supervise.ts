import { setTimeout as pause } from 'node:timers/promises';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { registerUser, type User } from '../state-folder/presence.js';
import { DeathReporter } from './death-reporter.js';
import { countFailure, restartPauseMs } from './restart-pause.js';
import { type WorkerEnd, WorkerProcess } from './worker-process.js';

/** Options of `supervise`. */
export interface SuperviseOptions {
  /** The program and arguments of the worker process. It connects to this process by `linkToSupervisor`. */
  readonly command: readonly [string, ...string[]];
  /** Keeps a second process loaded and connected, which takes over when the first one dies. */
  readonly spare: boolean;
  /** Receives one line for each death and restart. */
  readonly say: (line: string) => void;
  /** Stops the worker: it finishes its running calls. */
  readonly stop: AbortSignal;
}

/**
 * Runs a worker process and starts the next one when it dies. The calls of a dead process are handed back to their runs at once. Resolves
 * with the exit status of the last process: after `stop`, after a clean exit (0), or if the first process exits before it is ready, for
 * example because of an invalid config. Never rejects.
 *
 * Small on purpose: it loads no config, no workflow code and no provider. If this process is killed, the worker notices by its pipe and
 * stops after its running calls.
 */
export async function supervise(options: SuperviseOptions): Promise<number> {
  const supervisor = new Supervisor(options);
  try {
    return await supervisor.run();
  } finally {
    await supervisor.close();
  }
}

class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #reporter: DeathReporter;
  readonly #reports = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #spare: WorkerProcess | undefined;
  #user: Promise<User> | undefined;
  /** True once a process was loaded and connected: later failures are not those of the config. */
  #wasReady = false;

  constructor(options: SuperviseOptions) {
    this.#options = options;
    this.#reporter = new DeathReporter(options.say);
  }

  async run(): Promise<number> {
    const { stop } = this.#options;
    for (let failures = 0; ; ) {
      const worker = await this.#next(failures);
      if (!worker) return 0;
      const end = await this.#untilEnded(worker);
      this.#wasReady ||= worker.hosting !== undefined;
      const isClean = end.hasExited && (end.status === 0 || !this.#wasReady);
      // a forced exit has status 0 too
      if (!isClean || worker.held.calls.length > 0) this.#report(worker, end);
      if (stop.aborted || isClean) return end.status;
      failures = countFailure(failures, end.workedMs);
      const next = this.#spare ? 'the spare process takes over' : `the next one starts in ${restartPauseMs(failures) / 1_000} s`;
      this.#options.say(`worker process ${worker.pid ?? ''} died (${end.cause}); ${next}`);
    }
  }

  /** Stops the spare, and gives reports of deaths a moment. */
  async close(): Promise<void> {
    this.#closing.abort();
    const spare = this.#spare;
    this.#spare = undefined;
    // it has no calls; SIGTERM could wait for its start
    spare?.signal('SIGKILL');
    await spare?.ended;
    await Promise.race([Promise.all(this.#reports), pause(HOSTING_LIMITS.lastReportMs, undefined, { ref: false })]);
    await this.#reporter.close();
    await (await this.#user)?.leave();
  }

  /** The spare, or a new process after a pause. Undefined if stopped in the meantime. */
  async #next(failures: number): Promise<WorkerProcess | undefined> {
    const { command, stop } = this.#options;
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare) return spare;
    if (failures > 0) await pause(restartPauseMs(failures), undefined, { signal: stop }).catch(() => undefined);
    return stop.aborted ? undefined : new WorkerProcess(command);
  }

  async #untilEnded(worker: WorkerProcess): Promise<WorkerEnd> {
    const { stop } = this.#options;
    worker.takeTurn();
    void worker.working.then(() => this.#onWorking(worker));
    // a forced exit of this process (a second Ctrl-C) must not leave the worker behind
    const kill = (): void => worker.signal('SIGKILL');
    process.once('exit', kill);
    let forcing: NodeJS.Timeout | undefined;
    const onStop = (): void => {
      worker.signal('SIGTERM');
      forcing = setTimeout(kill, HOSTING_LIMITS.stopMs);
    };
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
    try {
      return await worker.ended;
    } finally {
      process.off('exit', kill);
      stop.removeEventListener('abort', onStop);
      clearTimeout(forcing);
    }
  }

  #onWorking({ hosting }: WorkerProcess): void {
    if (hosting?.kind === 'shared') void this.#reporter.prepare(hosting.server);
    // between two processes, the embedded server would have no user and stop
    if (hosting?.kind === 'embedded') this.#user ??= registerUser(hosting.stateDir);
    if (this.#options.spare) void this.#keepSpare();
  }

  /** Starts a spare process, and another one when it dies before its turn. */
  async #keepSpare(): Promise<void> {
    const { command, say, stop } = this.#options;
    for (let failures = 1; !stop.aborted && !this.#spare; failures += 1) {
      const spare = new WorkerProcess(command);
      this.#spare = spare;
      const { cause } = await spare.ended;
      // it took over: its end was that of the worker
      if (this.#spare !== spare) return;
      this.#spare = undefined;
      if (stop.aborted) return;
      say(`spare worker process ${spare.pid ?? ''} died (${cause}); the next one starts in ${restartPauseMs(failures) / 1_000} s`);
      await pause(restartPauseMs(failures), undefined, { signal: stop }).catch(() => undefined);
    }
  }

  #report({ hosting, held }: WorkerProcess, { cause }: WorkerEnd): void {
    if (hosting?.kind !== 'shared') return;
    const report = this.#reporter.report({ worker: hosting, cause, runs: held.runs(Date.now()) }, this.#closing.signal);
    this.#reports.add(report);
    void report.finally(() => this.#reports.delete(report));
  }
}
