import type { RunHandle } from '../../../client/run-handle.js';
import { RunMessages } from '../../../client/watch/run-messages.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import type { StreamSource } from '../../../streams/stream.js';
import { RunFeed } from './run-feed.js';
import { frameOf } from './sent-event.js';

/** A feed in use. */
interface Used {
  readonly feed: RunFeed;
  readonly messages: RunMessages;
  clients: number;
  linger?: NodeJS.Timeout;
}

/** The feeds of a gateway: one for each run that clients follow, however many they are. */
export class Feeds {
  readonly streams: StreamSource;
  readonly #used = new Map<string, Used>();
  #isClosed = false;

  constructor(streams: StreamSource) {
    this.streams = streams;
  }

  /** Number of runs that are followed. */
  get size(): number {
    return this.#used.size;
  }

  /** True once the gateway ends: streams end. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The feed of a run. Call `leave` once for each call. */
  join(run: RunHandle): RunFeed {
    const known = this.#used.get(run.runId);
    // a feed that ended by an error, or at the result, has nothing for who comes later
    const used = known && !known.feed.isOver ? known : this.#open(run);
    clearTimeout(used.linger);
    used.clients += 1;
    return used.feed;
  }

  /** The transcript of a run, read once for all clients that follow it. */
  messagesOf(run: RunHandle): RunMessages {
    return this.#used.get(run.runId)?.messages ?? new RunMessages(run);
  }

  /** Lets a feed go. Without a client it ends a little later, because clients come back. */
  leave(run: RunHandle, feed: RunFeed): void {
    const used = this.#used.get(run.runId);
    if (used?.feed !== feed) return;
    used.clients -= 1;
    if (used.clients > 0) return;
    const end = (): void => {
      if (this.#used.get(run.runId) === used && used.clients === 0) this.#used.delete(run.runId);
      feed.close();
    };
    used.linger = setTimeout(end, HTTP_LIMITS.lingerMs).unref();
  }

  /** Ends all feeds, and with them the streams of all clients. */
  close(): void {
    this.#isClosed = true;
    for (const { feed, linger } of this.#used.values()) {
      clearTimeout(linger);
      feed.close();
    }
    this.#used.clear();
  }

  #open(run: RunHandle): Used {
    clearTimeout(this.#used.get(run.runId)?.linger);
    const feed = new RunFeed(run, this.streams, (event) => frameOf(run.runId, event));
    const used: Used = { feed, messages: new RunMessages(run), clients: 0 };
    this.#used.set(run.runId, used);
    return used;
  }
}
