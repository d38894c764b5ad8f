/** Wakes everything that waits for the next change. */
export class Changes {
  #wake: () => void = () => undefined;
  #next = this.#begin();

  /** Resolves at the next change. */
  next(): Promise<void> {
    return this.#next;
  }

  /** Something has changed. */
  note(): void {
    const wake = this.#wake;
    this.#next = this.#begin();
    wake();
  }

  #begin(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
