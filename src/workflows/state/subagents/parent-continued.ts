/**
 * What a sub-agent knows of a parent that continues as new. Temporal then cancels the sub-agent, once, as it does when a parent ends: this
 * cancellation is not meant.
 */
export class ParentContinued {
  /** The run continues as new as soon as it can: the server keeps no second cancellation of a history. */
  continuesSoon = false;
  readonly #countsOnce: () => boolean;
  #isTold = false;
  #wasCancelled: boolean;

  /** `countsOnce`: false for runs that count each notice of a parent, although a cancellation follows only the first. */
  constructor(countsOnce: () => boolean, carried: true | undefined) {
    this.#countsOnce = countsOnce;
    this.#wasCancelled = carried ?? false;
  }

  /** The parent says that it continues as new. */
  tell(): void {
    this.#isTold = true;
  }

  /** True until Temporal's cancellation came: another history would take it for a real one. */
  get awaitsCancel(): boolean {
    return this.#isTold && !(this.#wasCancelled && this.#countsOnce());
  }

  /** True once for a cancellation of Temporal that only says that the parent continued as new. */
  takeCancel(): boolean {
    if (!this.awaitsCancel) return false;
    this.#isTold = false;
    this.#wasCancelled = true;
    this.continuesSoon = true;
    return true;
  }

  carry(): { readonly parentContinued?: true } {
    return this.#wasCancelled && this.#countsOnce() ? { parentContinued: true } : {};
  }
}
