/**
 * Runs a task once for all requests that come while it waits or runs: one call follows the one in progress, however many were requested.
 * The task handles its own errors.
 */
export class Coalesced {
  readonly #task: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isRequested = false;

  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Requests a call that begins after this moment. Resolves when there is none left. */
  request(): Promise<void> {
    this.#isRequested = true;
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#task();
    }
    this.#running = undefined;
  }
}
