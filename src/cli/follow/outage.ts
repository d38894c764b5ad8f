import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Voice } from '../display/output.js';

const RETRY_MS = 1_000;
/** After an outage, a worker needs a moment until it answers. */
const WORKER_WAIT_MS = 60_000;

/** Repeats requests while the server is not reachable. Each outage is reported once. */
export class Outage {
  readonly #voice: Voice;
  readonly #signal: AbortSignal;
  #lastSeenAt: number | undefined;

  /** The signal stops the wait, also in the middle of a request. */
  constructor(voice: Voice, signal: AbortSignal) {
    this.#voice = voice;
    this.#signal = signal;
  }

  /** The answer to a request that has the same effect however often it is sent. Undefined once the signal aborts. Rejects with other errors. */
  async through<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    while (!this.#signal.aborted) {
      try {
        const answer = await this.#unlessAborted(ask());
        this.#lastSeenAt = undefined;
        return answer;
      } catch (error) {
        if (!this.#isOutage(error)) throw error;
      }
      await delay(RETRY_MS, undefined, { signal: this.#signal }).catch(() => undefined);
    }
    return undefined;
  }

  #isOutage(error: unknown): boolean {
    if (!(error instanceof PerdureError)) return false;
    if (error.code === 'NO_WORKER') return this.#lastSeenAt !== undefined && Date.now() - this.#lastSeenAt < WORKER_WAIT_MS;
    if (error.code !== 'TEMPORAL_UNREACHABLE') return false;
    if (this.#lastSeenAt === undefined) this.#voice.say('server not reachable, trying again');
    this.#lastSeenAt = Date.now();
    return true;
  }

  async #unlessAborted<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
    const done = new AbortController();
    try {
      const aborted = once(this.#signal, 'abort', { signal: done.signal }).then(
        () => undefined,
        () => undefined,
      );
      return await Promise.race([answer, aborted]);
    } finally {
      done.abort();
      // the request may fail after the signal aborted
      answer.catch(() => undefined);
    }
  }
}
