import { CancellationScope } from '@temporalio/workflow';

/** The activities of a run that a stop aborts. They learn of it through their heartbeats, and answer with what they have. */
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

  /** Runs a model call that also a message in mode interrupt aborts. */
  async interruptible<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await this.abortable(() => {
        // made inside the other scope, whose end it shares
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

  /** Aborts what runs now. */
  abort(): void {
    for (const scope of this.#scopes) scope.cancel();
  }
}
