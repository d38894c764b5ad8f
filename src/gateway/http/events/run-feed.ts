import type { RunHandle } from '../../../client/run-handle.js';
import type { StreamSource } from '../../../streams/stream.js';
import { type Cursor, covers } from './cursor.js';
import { Feed } from './feed.js';
import { followEvents } from './follow-events.js';
import type { SentEvent } from './sent-event.js';

/** An event of a feed, with its bytes as most clients get them. */
export interface FeedEntry extends SentEvent {
  readonly frame: Buffer;
}

/** The events of one run for all its clients. Entries have indexes from 0. */
export class RunFeed extends Feed<FeedEntry, Cursor> {
  readonly #run: RunHandle;
  readonly #streams: StreamSource;
  readonly #frameOf: (event: SentEvent) => Buffer;

  /**
   * Begins to read, always at the start of the run: a place that a client sends is only a claim, and all clients share what is read here.
   * `frameOf` writes an event as bytes.
   */
  constructor(run: RunHandle, streams: StreamSource, frameOf: (event: SentEvent) => Buffer) {
    super({ event: 0 });
    this.#run = run;
    this.#streams = streams;
    this.#frameOf = frameOf;
    this.begin();
  }

  /** Index behind the last entry. */
  get end(): number {
    return this.dropped + this.entries.length;
  }

  /** Index of the oldest entry, if nothing is missing between `cursor` and it. Skip what the cursor has. */
  joinAt(cursor: Cursor): number | undefined {
    return covers(cursor, this.start) ? this.dropped : undefined;
  }

  /** The entry with an index. `dropped`: it is no longer kept. Undefined: it is not there yet. */
  at(index: number): FeedEntry | 'dropped' | undefined {
    return index < this.dropped ? 'dropped' : this.entries[index - this.dropped];
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    for await (const events of followEvents(this.#run, this.#streams, { start: this.start, signal })) {
      this.add(events.map((event) => ({ ...event, frame: this.#frameOf(event) })));
    }
  }

  protected sizeOf({ frame }: FeedEntry): number {
    return frame.length;
  }

  protected placeOf({ cursor }: FeedEntry): Cursor {
    return cursor;
  }
}
