import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/**
 * The working time of a run against its deadline. It stops while the run waits for a person, and continues across continue-as-new.
 * It uses one timer at a time, none per turn, to keep the history short.
 */
export class WorkClock {
  #workedMs: number;
  #runningSince: number | undefined;
  #timer: CancellationScope | undefined;
  #deadlineMs: number | undefined;
  readonly #onDeadline: () => void;

  constructor(options: { workedMs: number; deadlineMs: number | undefined; onDeadline: () => void }) {
    this.#workedMs = options.workedMs;
    this.#deadlineMs = options.deadlineMs;
    this.#onDeadline = options.onDeadline;
  }

  /** Working time so far, in milliseconds. */
  get workedMs(): number {
    return this.#workedMs + (this.#runningSince === undefined ? 0 : Date.now() - this.#runningSince);
  }

  /** Working time left, in milliseconds; undefined without a deadline. */
  get leftMs(): number | undefined {
    return this.#deadlineMs === undefined ? undefined : this.#deadlineMs - this.workedMs;
  }

  /** True when no working time is left. */
  get isOver(): boolean {
    return this.leftMs !== undefined && this.leftMs <= 0;
  }

  get deadlineMs(): number | undefined {
    return this.#deadlineMs;
  }

  start(): void {
    if (this.#runningSince !== undefined) return;
    this.#runningSince = Date.now();
    this.#setTimer();
  }

  stop(): void {
    if (this.#runningSince === undefined) return;
    this.#workedMs = this.workedMs;
    this.#runningSince = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Moves the deadline of a live run. */
  extend(byMs: number): void {
    if (this.#deadlineMs === undefined) return;
    const wasRunning = this.#runningSince !== undefined;
    this.stop();
    this.#deadlineMs += byMs;
    if (wasRunning) this.start();
  }

  #setTimer(): void {
    const leftMs = this.leftMs;
    if (leftMs === undefined) return;
    const timer = new CancellationScope();
    this.#timer = timer;
    // not awaited: the timer runs beside the loop and calls `onDeadline`
    void timer.run(() => sleep(Math.max(1, leftMs), { summary: 'deadline' })).then(this.#onDeadline, ignoreCancellation);
  }
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}
