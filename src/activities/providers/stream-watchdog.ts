import { ModelError } from './model-error.js';

/** Aborts a request when no bytes came for a while. Any byte counts, pings included: the SDKs swallow those. */
export class StreamWatchdog {
  readonly #abort = new AbortController();
  #idleMs: number;
  #timer: NodeJS.Timeout | undefined;
  failure: ModelError | undefined;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(): void {
    this.#timer ??= setTimeout(() => this.#bite(), this.#idleMs);
  }

  sawBytes(): void {
    this.#timer?.refresh();
  }

  /** Allows no more than this much silence from now on. */
  shortenTo(idleMs: number): void {
    if (idleMs >= this.#idleMs) return;
    this.stop();
    this.#idleMs = idleMs;
    this.start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #bite(): void {
    this.failure = new ModelError('Model.StreamIdle', `no bytes from the model for ${Math.round(this.#idleMs / 100) / 10} s`);
    this.#abort.abort(this.failure);
  }
}
