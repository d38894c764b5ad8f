import type { AnswerUpdate } from './run-answers.js';

/** How updates are passed on. */
export interface Pace {
  /** Shortest time between two `growing` updates. */
  readonly growEveryMs: number;
  /** Time without an update after which `idle` is yielded, once. Undefined: never. */
  readonly idleMs: () => number | undefined;
}

/** Reads updates until the signal aborts. */
export type ReadUpdates = (signal: AbortSignal) => AsyncIterable<AnswerUpdate>;

/**
 * Yields the updates in order, of several `growing` ones in a row only the last: each has the whole text so far, and reading it costs as much
 * as it is long. The updates are read as they come, so that no token waits while a platform is slow.
 */
export async function* pacedUpdates(read: ReadUpdates, { growEveryMs, idleMs }: Pace): AsyncGenerator<AnswerUpdate | 'idle'> {
  const inbox = new Inbox(read);
  let grownAt = 0;
  let mayIdle = false;
  try {
    while (true) {
      const restMs = inbox.hasOnlyGrowing ? grownAt + growEveryMs - Date.now() : 0;
      const update = restMs > 0 ? undefined : inbox.take();
      if (update) {
        if (update.type === 'growing') grownAt = Date.now();
        mayIdle = true;
        yield update;
      } else if (restMs > 0) {
        await inbox.changed(restMs);
      } else if (inbox.isOver) {
        return;
      } else if (!(await inbox.changed(mayIdle ? idleMs() : undefined))) {
        mayIdle = false;
        yield 'idle';
      }
    }
  } finally {
    await inbox.close();
  }
}

/** The updates that were read and not taken. */
class Inbox {
  readonly #waiting: AnswerUpdate[] = [];
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = ignore;

  constructor(read: ReadUpdates) {
    this.#reading = this.#read(read);
  }

  get hasOnlyGrowing(): boolean {
    return this.#end === undefined && this.#waiting.length === 1 && this.#waiting[0]?.type === 'growing';
  }

  /** True after the last update. Throws the error that ended the updates. */
  get isOver(): boolean {
    if (this.#end && 'error' in this.#end) throw this.#end.error;
    return this.#end !== undefined;
  }

  take(): AnswerUpdate | undefined {
    return this.#waiting.shift();
  }

  /** Resolves with true when something changes, and with false after some time. */
  changed(ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isChanged: boolean): void => {
        clearTimeout(timer);
        this.#wake = ignore;
        resolve(isChanged);
      };
      const timer = ms === undefined ? undefined : setTimeout(() => settle(false), ms);
      this.#wake = () => settle(true);
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  /** Never rejects. */
  async #read(read: ReadUpdates): Promise<void> {
    try {
      for await (const update of read(this.#stop.signal)) this.#put(update);
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    this.#wake();
  }

  #put(update: AnswerUpdate): void {
    if (update.type === 'growing' && this.#waiting.at(-1)?.type === 'growing') this.#waiting.pop();
    this.#waiting.push(update);
    this.#wake();
  }
}

function ignore(): void {
  // nobody waits
}
