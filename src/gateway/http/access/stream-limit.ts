/** Limits the open streams of each token. Pure but for its own counts, of which there are as many as tokens with a stream. */
export class StreamLimit {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  /** `max`: streams of a token at once. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a stream of a token. Returns what ends it, which has an effect once. Undefined at the limit. */
  take(key: string): (() => void) | undefined {
    const count = this.#open.get(key) ?? 0;
    if (count >= this.#max) return undefined;
    this.#open.set(key, count + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#end(key);
      isOpen = false;
    };
  }

  #end(key: string): void {
    const count = this.#open.get(key) ?? 0;
    if (count > 1) this.#open.set(key, count - 1);
    else this.#open.delete(key);
  }
}
