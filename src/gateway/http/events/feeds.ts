import type { RunHandle } from '../../../client/run-handle.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { RunMessages } from '../../../client/watch/run-messages.js';
import type { StreamSource } from '../../../streams/stream.js';
import { RunFeed } from './run-feed.js';
import { frameOf } from './sent-event.js';
import { SessionFeed } from './session-feed.js';
import { SharedFeeds } from './shared-feeds.js';

/** The feeds of a gateway: one for each run and each session that clients follow, however many they are. */
export class Feeds {
  readonly streams: StreamSource;
  readonly #runs = new SharedFeeds<RunFeed>();
  readonly #sessions = new SharedFeeds<SessionFeed>();
  readonly #messages = new WeakMap<RunFeed, RunMessages>();
  #isClosed = false;

  constructor(streams: StreamSource) {
    this.streams = streams;
  }

  /** Number of runs and sessions that are followed. */
  get size(): number {
    return this.#runs.size + this.#sessions.size;
  }

  /** True once the gateway ends: streams end. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The feed of a run. Call `leave` once for each call. */
  join(run: RunHandle): RunFeed {
    return this.#runs.join(run.runId, () => {
      const feed = new RunFeed(run, this.streams, (event) => frameOf(run.runId, event));
      this.#messages.set(feed, new RunMessages(run));
      return feed;
    });
  }

  /** The transcript of a run, read once for all clients that follow it. */
  messagesOf(run: RunHandle): RunMessages {
    const feed = this.#runs.get(run.runId);
    return (feed && this.#messages.get(feed)) ?? new RunMessages(run);
  }

  /** Lets the feed of a run go. Without a client it ends a little later, because clients come back. */
  leave(run: RunHandle, feed: RunFeed): void {
    this.#runs.leave(run.runId, feed);
  }

  /** The feed of a session. Call `leaveSession` once for each call. */
  joinSession(session: SessionHandle): SessionFeed {
    return this.#sessions.join(session.key, () => new SessionFeed(session));
  }

  /** Lets the feed of a session go, as `leave` does. */
  leaveSession(session: SessionHandle, feed: SessionFeed): void {
    this.#sessions.leave(session.key, feed);
  }

  /** Ends all feeds, and with them the streams of all clients. */
  close(): void {
    this.#isClosed = true;
    this.#runs.close();
    this.#sessions.close();
  }
}
