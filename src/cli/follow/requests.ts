import { PerdureError } from '../../contracts/perdure-error.js';

/** Sends the requests of a person one after the other, so that none overtakes the one before it. A request that fails is reported. */
export class Requests {
  readonly #say: (line: string) => void;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Sends a request after those before it. Resolves with false if it fails; never rejects. */
  send(request: () => Promise<unknown>): Promise<boolean> {
    const sent = this.#pending === 0 ? this.#try(request) : this.#last.then(() => this.#try(request));
    this.#pending += 1;
    this.#last = sent;
    return sent;
  }

  async #try(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      const { code, message } = error instanceof PerdureError ? error : { code: 'INTERNAL', message: String(error) };
      this.#say(`${code}: ${message}`);
      return false;
    } finally {
      this.#pending -= 1;
    }
  }
}
