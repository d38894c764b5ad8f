import { ModelError } from './model-error.js';

/** Aborts a request when no bytes came for a while. Any byte counts, pings included: the SDKs swallow those (faults 3.3 d). */
export class StreamWatchdog {
  readonly #idleMs: number;
  readonly #abort = new AbortController();
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

  stop(): void {
    clearTimeout(this.#timer);
  }

  #bite(): void {
    this.failure = new ModelError('Model.StreamIdle', `no bytes from the model for ${Math.round(this.#idleMs / 100) / 10} s`);
    this.#abort.abort(this.failure);
  }
}
