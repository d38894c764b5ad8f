import type { RunHandle } from '../../../client/run-handle.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { type Cursor, covers, furthest, isAtOrBehind } from './cursor.js';
import type { Feeds } from './feeds.js';
import { replayRun } from './replay-run.js';
import type { FeedEntry, RunFeed } from './run-feed.js';
import { EventWriter, frameOf, type SentEvent } from './sent-event.js';
import type { StreamClient } from './stream-client.js';

/** Writes events to a client until there are no more, or the client left. Resolves then; the response is not ended. */
export type EventStream = (client: StreamClient) => Promise<void>;

/** Writes an event of a run as bytes. `cursor`: the place of the client behind it. */
export type WriteEvent = (event: SentEvent, cursor: Cursor) => Buffer;

/**
 * Follows a run from a place on: first what is no longer in its feed, then the feed.
 *
 * @param write the form of the events. @default that of a run's stream, whose bytes all clients share
 */
export function followRun(run: RunHandle, feeds: Feeds, start: Cursor, write?: WriteEvent): EventStream {
  return async (client) => {
    const feed = feeds.join(run, start);
    try {
      await new Follower(run, feed, { client, write }).follow(feeds, start);
    } finally {
      feeds.leave(run, feed);
    }
  };
}

/** One client of a feed. */
class Follower {
  readonly #run: RunHandle;
  readonly #feed: RunFeed;
  readonly #client: StreamClient;
  readonly #write: WriteEvent | undefined;

  constructor(run: RunHandle, feed: RunFeed, { client, write }: { readonly client: StreamClient; readonly write: WriteEvent | undefined }) {
    this.#run = run;
    this.#feed = feed;
    this.#client = client;
    this.#write = write;
  }

  async follow(feeds: Feeds, start: Cursor): Promise<void> {
    let cursor = start;
    for (let attempt = 1; attempt <= CATCH_UPS_MAX; attempt += 1) {
      const index = this.#feed.joinAt(cursor);
      if (index !== undefined) return await this.#deliver(index, cursor);
      cursor = await this.#catchUp(feeds, cursor);
    }
    // the client resumes where it is
  }

  /** Sends what is stored. Returns the place behind it. */
  async #catchUp(feeds: Feeds, start: Cursor): Promise<Cursor> {
    const writer = new EventWriter(this.#run.runId, start);
    try {
      for await (const item of replayRun(this.#run, feeds.streams, start)) {
        for (const event of item.type === 'event' ? writer.event(item.event) : writer.token(item.event)) {
          await this.#client.send(this.#write?.(event, event.cursor) ?? frameOf(this.#run.runId, event));
        }
        if (this.#client.hasLeft || feeds.isClosed) break;
      }
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error;
      // the client resumes when a worker is there
    }
    return writer.cursor;
  }

  async #deliver(from: number, start: Cursor): Promise<void> {
    let cursor = start;
    for (let index = from; !this.#client.hasLeft; ) {
      const entry = this.#feed.at(index);
      if (entry === 'dropped') return this.#client.drop();
      if (entry === undefined) {
        if (this.#feed.isOver) return;
        await this.#client.waitFor(this.#feed.changed());
        continue;
      }
      if (!has(cursor, entry)) await this.#client.send(this.#frame(entry, cursor));
      cursor = furthest(cursor, entry.cursor);
      index += 1;
    }
  }

  /** The bytes that all clients get, unless the client has more of one kind than the feed had then. */
  #frame(entry: FeedEntry, cursor: Cursor): Buffer {
    if (this.#write) return this.#write(entry, furthest(cursor, entry.cursor));
    return covers(entry.cursor, cursor) ? entry.frame : frameOf(this.#run.runId, entry, cursor);
  }
}

/** A feed that drops entries faster than a client reads what is stored is left to the next attempt of the client. */
const CATCH_UPS_MAX = 3;

function has(cursor: Cursor, { adds }: SentEvent): boolean {
  if (adds === 'result') return false;
  return 'event' in adds ? adds.event <= cursor.event : isAtOrBehind(cursor.token, adds);
}
