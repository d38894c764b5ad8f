import { CancellationScope } from '@temporalio/workflow';

/**
 * The running activities that a stop aborts. An aborted activity gets the cancellation with its next heartbeat, and returns partial
 * output. Calls share a scope until it is cancelled: each scope costs three promises, and its parent refers to it until the end of the run.
 */
export class RunningCalls {
  #scope: CancellationScope | undefined;
  #modelScope: CancellationScope | undefined;
  #modelCalls = 0;
  readonly #separate = new Set<CancellationScope>();

  /** Runs calls that a cancel or the deadline aborts. */
  abortable<T>(start: () => Promise<T>): Promise<T> {
    this.#scope ??= new CancellationScope();
    return this.#scope.run(start);
  }

  /** Runs a model call that a message in mode `interrupt` aborts too. */
  async interruptible<T>(start: () => Promise<T>): Promise<T> {
    this.#modelScope ??= new CancellationScope();
    this.#modelCalls += 1;
    try {
      return await this.#modelScope.run(start);
    } finally {
      this.#modelCalls -= 1;
    }
  }

  /** Runs a call that a cancel or the deadline aborts, and that `abort` aborts alone. */
  separate<T>(start: () => Promise<T>): { readonly ended: Promise<T>; abort(): void } {
    const scope = new CancellationScope();
    this.#separate.add(scope);
    const ended = scope.run(start).finally(() => this.#separate.delete(scope));
    return { ended, abort: () => scope.cancel() };
  }

  /** Aborts the running model call, if there is one: its partial text is kept. */
  interruptModel(): void {
    // a scope without a call must not abort the next one
    if (this.#modelCalls > 0) this.#abortModel();
  }

  /** Aborts all running calls. Calls that start later run in a scope of their own. */
  abort(): void {
    this.#scope?.cancel();
    this.#scope = undefined;
    this.#abortModel();
    for (const scope of this.#separate) scope.cancel();
  }

  #abortModel(): void {
    this.#modelScope?.cancel();
    this.#modelScope = undefined;
  }
}
