import { setImmediate as nextPoll } from 'node:timers/promises';
import { ModelError } from '../contract/model-error.js';

/** How long a server may be silent. */
export interface Patience {
  /** Between any two bytes, pings included. */
  readonly idleMs: number;
  /** Before the first byte of the answer. @default idleMs */
  readonly firstByteMs?: number | undefined;
}

/** Aborts a request when no bytes came for a while. Any byte counts, pings included: the SDKs swallow those. */
export class StreamWatchdog {
  readonly #abort = new AbortController();
  #idleMs: number;
  #firstByteMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #signs = 0;
  #isEnding = false;
  failure: ModelError | undefined;

  constructor({ idleMs, firstByteMs }: Patience) {
    this.#idleMs = idleMs;
    this.#firstByteMs = firstByteMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(): void {
    this.#timer ??= setTimeout(() => void this.#expire(), this.#firstByteMs ?? this.#idleMs);
  }

  /** The server answers, but with nothing to read yet: as long as its first byte is waited for, that says little. */
  sawHeaders(): void {
    if (this.#firstByteMs === undefined) this.#refresh();
  }

  sawBytes(): void {
    if (this.#isEnding) return;
    if (this.#firstByteMs === undefined) {
      this.#refresh();
      return;
    }
    this.#firstByteMs = undefined;
    this.#restart();
  }

  /**
   * The answer is complete: from now on no more than this much time may pass between calls of this. Bytes alone no longer count, for a
   * server may hold its stream open with pings.
   */
  shortenTo(idleMs: number): void {
    this.#isEnding = true;
    this.#idleMs = Math.min(idleMs, this.#idleMs);
    this.#restart();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #restart(): void {
    this.stop();
    this.start();
  }

  #refresh(): void {
    this.#signs += 1;
    this.#timer?.refresh();
  }

  /** After a stall of this process, the time is over before the bytes that came meanwhile are read. So what is there is read first. */
  async #expire(): Promise<void> {
    const { timer, signs } = { timer: this.#timer, signs: this.#signs };
    for (let poll = 0; poll < POLLS; poll += 1) await nextPoll();
    if (timer === this.#timer && signs === this.#signs) this.#bite();
  }

  #bite(): void {
    const firstByteMs = this.#firstByteMs;
    this.failure =
      firstByteMs === undefined
        ? new ModelError('Model.StreamIdle', `no bytes from the model for ${seconds(this.#idleMs)}`)
        : new ModelError('Model.Timeout', `no first byte from the model for ${seconds(firstByteMs)}`);
    this.#abort.abort(this.failure);
  }
}

/** The first one reads the socket. The bytes may need another one on their way through the HTTP client. */
const POLLS = 2;

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
