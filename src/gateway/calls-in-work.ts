import { setTimeout as delay } from 'node:timers/promises';

/** The calls that a server is answering, so that its end can wait for their answers. */
export class CallsInWork {
  readonly #calls = new Set<Promise<unknown>>();

  /** Returns the call. */
  readonly track = async <T>(call: Promise<T>): Promise<T> => {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  };

  /** Resolves when all calls have ended and their answers were handed over, at the latest after `timeoutMs`, or at the abort of `until`. */
  async ended(timeoutMs: number, until?: AbortSignal): Promise<void> {
    const late = new AbortController();
    const signal = until ? AbortSignal.any([late.signal, until]) : late.signal;
    await Promise.race([this.#untilNone(signal), delay(timeoutMs, undefined, { signal }).catch(() => undefined)]);
    late.abort();
    // an answer is written after its call has ended
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** A call may begin another one: a request is answered once its token was checked. */
  async #untilNone(late: AbortSignal): Promise<void> {
    while (this.#calls.size > 0 && !late.aborted) await Promise.allSettled(this.#calls);
  }
}
