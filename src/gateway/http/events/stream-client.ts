import type { ServerResponse } from 'node:http';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';

const COMMENT = ':\n\n';

/** The client of a stream of events. It takes what it is sent at its own pace. */
export class StreamClient {
  readonly #response: ServerResponse;
  #hasLeft = false;
  #wake: () => void = () => undefined;

  /** Begins the stream on a response whose headers were sent. */
  constructor(response: ServerResponse) {
    this.#response = response;
    const keepAlive = setInterval(() => {
      if (response.writableLength === 0) response.write(COMMENT);
    }, HTTP_LIMITS.keepAliveMs).unref();
    response.once('close', () => {
      clearInterval(keepAlive);
      this.#hasLeft = true;
      this.#wake();
    });
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Sends bytes, and waits while the client does not take them. Disconnects a client that takes nothing for `HTTP_LIMITS.stallMs`. */
  async send(bytes: Buffer): Promise<void> {
    if (this.#hasLeft || this.#response.write(bytes)) return;
    const stall = setTimeout(() => this.drop(), HTTP_LIMITS.stallMs);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#response.once('drain', resolve);
    });
    clearTimeout(stall);
  }

  /** Resolves at `event`, or when the client leaves. */
  async waitFor(event: Promise<void>): Promise<void> {
    if (this.#hasLeft) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      void event.then(resolve);
    });
  }

  /** Disconnects the client. It can resume. */
  drop(): void {
    this.#response.destroy();
  }
}
