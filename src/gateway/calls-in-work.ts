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

  /** Resolves when all calls have ended and their answers were handed over, at the latest after `timeoutMs`. */
  async ended(timeoutMs: number): Promise<void> {
    const late = new AbortController();
    await Promise.race([Promise.allSettled(this.#calls), delay(timeoutMs, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
    // an answer is written after its call has ended
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
