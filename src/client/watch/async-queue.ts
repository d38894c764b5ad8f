/** Merges several producers into one async iterable, in the order of their pushes. Supports one consumer. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;

  push(item: T): void {
    if (this.#end) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** Closes the queue. The consumer gets the queued items, then the end or the error. Later calls have no effect. */
  close(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (true) {
      const item = this.#items.shift();
      if (item !== undefined) {
        yield item;
      } else if (this.#end) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
