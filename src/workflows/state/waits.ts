/** What a run waits for, as an operator reads it. A function is asked each time it is read. */
export type WaitReason = string | (() => string);

/** What a run waits for at present. */
export class Waits {
  readonly #open = new Set<{ readonly reason: WaitReason }>();
  /** A person's pause stands before all else. */
  paused = false;

  get waiting(): boolean {
    return this.#open.size > 0;
  }

  /** The newest wait; undefined when the run works. */
  get reason(): string | undefined {
    if (this.paused) return 'resume';
    const newest = [...this.#open].at(-1)?.reason;
    return typeof newest === 'function' ? newest() : newest;
  }

  /** Opens a wait; call what it returns when it is over. Several calls of one batch may wait at once. */
  open(reason: WaitReason): () => void {
    const wait = { reason };
    this.#open.add(wait);
    return () => {
      this.#open.delete(wait);
    };
  }
}
