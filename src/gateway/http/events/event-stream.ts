import type { RunHandle } from '../../../client/run-handle.js';
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

/** An event for a client, and its place behind it. */
export interface FollowedEvent {
  readonly event: SentEvent;
  readonly cursor: Cursor;
  /** Its bytes in the run's own stream. */
  readonly frame: Buffer;
}

/**
 * Follows a run from a place on: first what is no longer in its feed, then the feed.
 *
 * @param write the form of the events. @default that of a run's stream, whose bytes all clients share
 */
export function followRun(run: RunHandle, feeds: Feeds, start: Cursor, write?: WriteEvent): EventStream {
  return async (client) => {
    for await (const { event, cursor, frame } of eventsOfRun(run, feeds, { start, client })) {
      await client.send(write?.(event, cursor) ?? frame);
    }
  };
}

/**
 * The events of a run for one client, at its pace, as `followRun` sends them. Ends after the result, when the client leaves, and when the
 * gateway ends. Throws the error that ended the feed.
 */
export async function* eventsOfRun(
  run: RunHandle,
  feeds: Feeds,
  { start, client }: { readonly start: Cursor; readonly client: StreamClient },
): AsyncGenerator<FollowedEvent> {
  const feed = feeds.join(run);
  try {
    yield* new Follower(run, feed, client).follow(feeds, start);
  } finally {
    feeds.leave(run, feed);
  }
}

/** One client of a feed. */
class Follower {
  readonly #run: RunHandle;
  readonly #feed: RunFeed;
  readonly #client: StreamClient;
  #cursor: Cursor = { event: 0 };

  constructor(run: RunHandle, feed: RunFeed, client: StreamClient) {
    this.#run = run;
    this.#feed = feed;
    this.#client = client;
  }

  async *follow(feeds: Feeds, start: Cursor): AsyncGenerator<FollowedEvent> {
    this.#cursor = start;
    for (let attempt = 1; attempt <= CATCH_UPS_MAX; attempt += 1) {
      const index = this.#feed.joinAt(this.#cursor);
      if (index !== undefined) return yield* this.#deliver(index);
      yield* this.#catchUp(feeds);
    }
    // the client resumes where it is
  }

  /** Yields what is stored. */
  async *#catchUp(feeds: Feeds): AsyncGenerator<FollowedEvent> {
    const writer = new EventWriter(this.#run.runId, this.#cursor);
    for await (const item of replayRun(this.#run, feeds.streams, this.#cursor)) {
      for (const event of item.type === 'event' ? writer.event(item.event) : writer.token(item.event)) {
        yield { event, cursor: event.cursor, frame: frameOf(this.#run.runId, event) };
      }
      if (this.#client.hasLeft || feeds.isClosed) break;
    }
    this.#cursor = writer.cursor;
  }

  async *#deliver(from: number): AsyncGenerator<FollowedEvent> {
    for (let index = from; !this.#client.hasLeft; ) {
      const entry = this.#feed.at(index);
      if (entry === 'dropped') return this.#client.drop();
      if (entry === undefined) {
        if (this.#feed.error !== undefined) throw this.#feed.error;
        if (this.#feed.isOver) return;
        await this.#client.waitFor(this.#feed.changed());
        continue;
      }
      const before = this.#cursor;
      this.#cursor = furthest(before, entry.cursor);
      if (!has(before, entry)) yield { event: entry, cursor: this.#cursor, frame: this.#frame(entry, before) };
      index += 1;
    }
  }

  /** The bytes that all clients get, unless the client has more of one kind than the feed had then. */
  #frame(entry: FeedEntry, cursor: Cursor): Buffer {
    return covers(entry.cursor, cursor) ? entry.frame : frameOf(this.#run.runId, entry, cursor);
  }
}

/** A feed that drops entries faster than a client reads what is stored is left to the next attempt of the client. */
const CATCH_UPS_MAX = 3;

function has(cursor: Cursor, { adds }: SentEvent): boolean {
  if (adds === 'result') return false;
  return 'event' in adds ? adds.event <= cursor.event : isAtOrBehind(cursor.token, adds);
}
