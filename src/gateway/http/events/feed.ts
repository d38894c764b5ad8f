import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { Changes } from './changes.js';

/**
 * What is read once for all clients of a gateway: the last entries, as far as `HTTP_LIMITS.feedBytesMax`, and the end with its reason. Each
 * client reads at its own pace.
 */
export abstract class Feed<Entry, Place> {
  readonly #stop = new AbortController();
  readonly #changes = new Changes();
  #entries: Entry[] = [];
  #start: Place;
  #dropped = 0;
  #bytes = 0;
  #isOver = false;
  #error: unknown;

  /** `start`: the place before the first entry. Call `begin` to read. */
  protected constructor(start: Place) {
    this.#start = start;
  }

  /** Reads and adds entries until the end, or until `signal` aborts. */
  protected abstract follow(signal: AbortSignal): Promise<void>;

  /** Size of an entry, bytes or characters. */
  protected abstract sizeOf(entry: Entry): number;

  /** The place of an entry. */
  protected abstract placeOf(entry: Entry): Place;

  /** True when no entry follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Why no entry follows. Undefined after the last entry, and for a feed that was closed. */
  get error(): unknown {
    return this.#error;
  }

  /** Resolves at the next entry, and at the end. */
  changed(): Promise<void> {
    return this.#changes.next();
  }

  /** Stops reading. */
  close(): void {
    this.#stop.abort();
    this.#end();
  }

  /** The entries that are kept, oldest first. */
  protected get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The place before the oldest entry that is kept. */
  protected get start(): Place {
    return this.#start;
  }

  /** Number of entries that are no longer kept. */
  protected get dropped(): number {
    return this.#dropped;
  }

  protected begin(): void {
    void this.follow(this.#stop.signal).then(
      () => this.#end(),
      (error: unknown) => {
        this.#error = error;
        this.#end();
      },
    );
  }

  protected add(entries: readonly Entry[]): void {
    if (entries.length === 0 || this.#isOver) return;
    this.#entries.push(...entries);
    for (const entry of entries) this.#bytes += this.sizeOf(entry);
    this.#trim();
    this.#changes.note();
  }

  /** Drops all entries. The next one stands behind `start`. */
  protected forget(start: Place): void {
    this.#dropped += this.#entries.length;
    this.#entries = [];
    this.#bytes = 0;
    this.#start = start;
    this.#changes.note();
  }

  /** Drops the oldest entries above the limit, but never the last one. */
  #trim(): void {
    let count = 0;
    for (const entry of this.#entries.slice(0, -1)) {
      if (this.#bytes <= HTTP_LIMITS.feedBytesMax) break;
      this.#bytes -= this.sizeOf(entry);
      this.#start = this.placeOf(entry);
      count += 1;
    }
    if (count === 0) return;
    this.#entries = this.#entries.slice(count);
    this.#dropped += count;
  }

  #end(): void {
    this.#isOver = true;
    this.#changes.note();
  }
}
