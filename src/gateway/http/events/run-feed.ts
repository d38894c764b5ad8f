import type { RunHandle } from '../../../client/run-handle.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import type { StreamSource } from '../../../streams/stream.js';
import { Changes } from './changes.js';
import { type Cursor, covers } from './cursor.js';
import { followEvents } from './follow-events.js';
import type { SentEvent } from './sent-event.js';

/** An event of a feed, with its bytes as most clients get them. */
export interface FeedEntry extends SentEvent {
  readonly frame: Buffer;
}

/**
 * The events of one run for all its clients: read once, and kept as far as `HTTP_LIMITS.feedBytesMax`. Entries have indexes from 0, and are
 * read at the pace of each client.
 */
export class RunFeed {
  readonly #run: RunHandle;
  readonly #streams: StreamSource;
  readonly #frameOf: (event: SentEvent) => Buffer;
  readonly #stop = new AbortController();
  #entries: FeedEntry[] = [];
  /** Index of the first entry that is kept, and the place before it. */
  #first = 0;
  #start: Cursor = { event: 0 };
  #bytes = 0;
  readonly #changes = new Changes();
  #isOver = false;
  #error: unknown;

  /**
   * Begins to read, always at the start of the run: a place that a client sends is only a claim, and all clients share what is read here.
   * `frameOf` writes an event as bytes.
   */
  constructor(run: RunHandle, streams: StreamSource, frameOf: (event: SentEvent) => Buffer) {
    this.#run = run;
    this.#streams = streams;
    this.#frameOf = frameOf;
    void this.#follow().then(
      () => this.#end(),
      (error: unknown) => {
        this.#error = error;
        this.#end();
      },
    );
  }

  /** True when no entry follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Why no entry follows. Undefined after the result, and for a feed that was closed. */
  get error(): unknown {
    return this.#error;
  }

  /** Index behind the last entry. */
  get end(): number {
    return this.#first + this.#entries.length;
  }

  /** Index of the oldest entry, if nothing is missing between `cursor` and it. Skip what the cursor has. */
  joinAt(cursor: Cursor): number | undefined {
    return covers(cursor, this.#start) ? this.#first : undefined;
  }

  /** The entry with an index. `dropped`: it is no longer kept. Undefined: it is not there yet. */
  at(index: number): FeedEntry | 'dropped' | undefined {
    return index < this.#first ? 'dropped' : this.#entries[index - this.#first];
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

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    for await (const events of followEvents(this.#run, this.#streams, { start: this.#start, signal })) this.#add(events);
  }

  #add(events: readonly SentEvent[]): void {
    if (events.length === 0 || this.#isOver) return;
    for (const event of events) {
      const frame = this.#frameOf(event);
      this.#entries.push({ ...event, frame });
      this.#bytes += frame.length;
    }
    this.#trim();
    this.#changes.note();
  }

  /** Drops the oldest entries above the limit. */
  #trim(): void {
    let count = 0;
    while (this.#bytes > HTTP_LIMITS.feedBytesMax && count < this.#entries.length - 1) {
      const dropped = this.#entries[count];
      this.#bytes -= dropped?.frame.length ?? 0;
      this.#start = dropped?.cursor ?? this.#start;
      count += 1;
    }
    if (count === 0) return;
    this.#entries = this.#entries.slice(count);
    this.#first += count;
  }

  #end(): void {
    this.#isOver = true;
    this.#changes.note();
  }
}
