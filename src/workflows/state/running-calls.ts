import { CancellationScope } from '@temporalio/workflow';

/**
 * The running activities that a stop aborts. An aborted activity gets the cancellation with its next heartbeat, and returns partial
 * output.
 */
export class RunningCalls {
  readonly #scopes = new Set<CancellationScope>();
  #modelScope: CancellationScope | undefined;

  /** Runs calls that a cancel or the deadline aborts. */
  async abortable<T>(start: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope();
    this.#scopes.add(scope);
    try {
      return await scope.run(start);
    } finally {
      this.#scopes.delete(scope);
    }
  }

  /** Runs a model call that a message in mode `interrupt` aborts too. */
  async interruptible<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await this.abortable(() => {
        // created inside the outer scope, so that a stop cancels it too
        const scope = new CancellationScope();
        this.#modelScope = scope;
        return scope.run(start);
      });
    } finally {
      this.#modelScope = undefined;
    }
  }

  /** Aborts the running model call, if there is one: its partial text is kept. */
  interruptModel(): void {
    this.#modelScope?.cancel();
  }

  /** Aborts all running calls. */
  abort(): void {
    for (const scope of this.#scopes) scope.cancel();
  }
}
