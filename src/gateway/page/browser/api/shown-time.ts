/** A time in which the tab is shown. `signal` aborts when the tab is hidden, and when the page ends what it does. */
export class ShownTime {
  readonly #abort = new AbortController();
  readonly #ending: AbortSignal;
  #wasHidden = false;

  constructor(ending: AbortSignal) {
    this.#ending = ending;
    document.addEventListener('visibilitychange', this.#onChange);
    ending.addEventListener('abort', this.#onEnd);
    if (ending.aborted) this.#onEnd();
    this.#onChange();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True if the tab was hidden since the time began. */
  get wasHidden(): boolean {
    return this.#wasHidden;
  }

  /** Ends the time, without an abort. */
  end(): void {
    document.removeEventListener('visibilitychange', this.#onChange);
    this.#ending.removeEventListener('abort', this.#onEnd);
  }

  readonly #onChange = (): void => {
    if (document.visibilityState !== 'hidden') return;
    this.#wasHidden = true;
    this.#abort.abort();
  };

  readonly #onEnd = (): void => this.#abort.abort();
}

/** Resolves once the tab is shown, or when the signal aborts. */
export async function untilShown(signal: AbortSignal): Promise<void> {
  if (document.visibilityState !== 'hidden' || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const check = (): void => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      signal.removeEventListener('abort', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check);
  });
}
