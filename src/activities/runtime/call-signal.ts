import { steadyMs } from './steady-clock.js';

/**
 * A signal that follows others and ends after a time limit. `AbortSignal.any` and `AbortSignal.timeout` would do the same, but take longer
 * than the rest of a call's set-up, and stay in memory until their sources are collected.
 */
export class CallSignal {
  readonly #abort = new AbortController();
  readonly #followed: readonly AbortSignal[];
  #timer: NodeJS.Timeout;
  #timedOut = false;
  /** When the time limit ends, on the clock of `steadyMs`. */
  #endsAtMs: number;
  #holds = 0;
  /** The rest of the time limit, while it is held. */
  #leftMs = 0;
  #isReleased = false;

  constructor(followed: readonly AbortSignal[], timeoutMs: number) {
    this.#followed = followed;
    const aborted = followed.find((source) => source.aborted);
    if (aborted) this.#abort.abort(aborted.reason);
    for (const source of followed) source.addEventListener('abort', this.#follow, { once: true });
    this.#timer = setTimeout(() => this.#expire(), timeoutMs).unref();
    this.#endsAtMs = steadyMs() + timeoutMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True when the time limit has passed, also after another abort. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Sets a new time limit from now on. */
  restart(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), timeoutMs).unref();
    this.#endsAtMs = steadyMs() + timeoutMs;
  }

  /** Stops the time limit until the returned function is called. Several may hold it at once. */
  hold(): () => void {
    if (this.#holds === 0) this.#leftMs = Math.max(1, this.#endsAtMs - steadyMs());
    this.#holds += 1;
    clearTimeout(this.#timer);
    return () => {
      this.#holds -= 1;
      if (this.#holds === 0 && !this.#isReleased) this.restart(this.#leftMs);
    };
  }

  /** Stops following. Call it when the work has ended. */
  release(): void {
    this.#isReleased = true;
    clearTimeout(this.#timer);
    for (const source of this.#followed) source.removeEventListener('abort', this.#follow);
  }

  readonly #follow = ({ currentTarget }: Event): void => {
    this.#abort.abort(currentTarget instanceof AbortSignal ? currentTarget.reason : undefined);
  };

  #expire(): void {
    this.#timedOut = true;
    this.#abort.abort(timeoutError());
  }
}

/**
 * A signal that aborts with others, and with a `TimeoutError` after `ms`. In Node 20 `AbortSignal.any` drops an `AbortSignal.timeout` that
 * nothing else refers to at the next garbage collection: the time limit would never come. A timer refers to this one.
 */
export function withinTime(followed: readonly AbortSignal[], ms: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(timeoutError()), ms).unref();
  return AbortSignal.any([...followed, limit.signal]);
}

function timeoutError(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}
