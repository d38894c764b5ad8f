import type { ServerResponse } from 'node:http';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';

const COMMENT = ':\n\n';

/** The client of a stream of events. It takes what it is sent at its own pace. */
export class StreamClient {
  readonly #response: ServerResponse;
  #hasLeft: boolean;
  readonly #waiting = new Set<() => void>();

  /** Begins the stream on a response whose headers were sent. */
  constructor(response: ServerResponse) {
    this.#response = response;
    // a client may leave before its stream begins
    this.#hasLeft = response.destroyed;
    if (this.#hasLeft) return;
    const keepAlive = setInterval(() => {
      if (response.writableLength === 0) response.write(COMMENT);
    }, HTTP_LIMITS.keepAliveMs).unref();
    response.once('close', () => {
      clearInterval(keepAlive);
      this.#leave();
    });
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Sends bytes, and waits while the client does not take them. Disconnects a client that takes nothing for `HTTP_LIMITS.stallMs`. */
  async send(bytes: Buffer): Promise<void> {
    if (this.#hasLeft || this.#response.write(bytes)) return;
    const stall = setTimeout(() => this.drop(), HTTP_LIMITS.stallMs);
    await this.#until((wake) => this.#response.once('drain', wake));
    clearTimeout(stall);
  }

  /** Resolves at `event`, or when the client leaves. */
  async waitFor(event: Promise<void>): Promise<void> {
    if (this.#hasLeft) return;
    await this.#until((wake) => void event.then(wake));
  }

  /** Waits, unless the client leaves. */
  async pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await this.waitFor(
      new Promise((resolve) => {
        timer = setTimeout(resolve, ms);
      }),
    );
    clearTimeout(timer);
  }

  /** Resolves when `listen` is called back, or when the client leaves. */
  async #until(listen: (wake: () => void) => void): Promise<void> {
    let waiter: (() => void) | undefined;
    await new Promise<void>((resolve) => {
      waiter = resolve;
      this.#waiting.add(resolve);
      listen(resolve);
    });
    if (waiter) this.#waiting.delete(waiter);
  }

  /** Disconnects the client. It can resume. */
  drop(): void {
    this.#response.destroy();
    this.#leave();
  }

  #leave(): void {
    this.#hasLeft = true;
    for (const wake of this.#waiting) wake();
  }
}
