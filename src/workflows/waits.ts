/** What a run waits for, as an operator reads it. */
export class Waits {
  readonly #open = new Set<{ readonly reason: string }>();
  /** A person's pause stands before all else. */
  paused = false;

  get waiting(): boolean {
    return this.#open.size > 0;
  }

  /** The newest wait; undefined when the run works. */
  get reason(): string | undefined {
    return this.paused ? 'resume' : [...this.#open].at(-1)?.reason;
  }

  /** Opens a wait; call what it returns when it is over. Several calls of one batch may wait at once. */
  open(reason: string): () => void {
    const wait = { reason };
    this.#open.add(wait);
    return () => {
      this.#open.delete(wait);
    };
  }
}
