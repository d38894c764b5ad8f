import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';

/** A feed that several clients read. */
export interface SharedFeed {
  /** True when nothing follows. */
  readonly isOver: boolean;
  /** Stops reading. */
  close(): void;
}

/** A feed in use. */
interface Used<Feed> {
  readonly feed: Feed;
  clients: number;
  linger?: NodeJS.Timeout;
}

/** Feeds by the names of what they follow: one for each, however many clients read it. */
export class SharedFeeds<Feed extends SharedFeed> {
  readonly #used = new Map<string, Used<Feed>>();

  /** Number of feeds that are open. */
  get size(): number {
    return this.#used.size;
  }

  /** The open feed of a name. */
  get(name: string): Feed | undefined {
    return this.#used.get(name)?.feed;
  }

  /** The feed of a name, which `open` opens if there is none. Call `leave` once for each call. */
  join(name: string, open: () => Feed): Feed {
    const known = this.#used.get(name);
    // a feed that ended by an error, or at the result, has nothing for who comes later
    const used = known && !known.feed.isOver ? known : this.#open(name, open);
    clearTimeout(used.linger);
    used.clients += 1;
    return used.feed;
  }

  /** Lets a feed go. Without a client it ends a little later, because clients come back. */
  leave(name: string, feed: Feed): void {
    const used = this.#used.get(name);
    if (used?.feed !== feed) return;
    used.clients -= 1;
    if (used.clients > 0) return;
    const end = (): void => {
      if (this.#used.get(name) === used && used.clients === 0) this.#used.delete(name);
      feed.close();
    };
    used.linger = setTimeout(end, HTTP_LIMITS.lingerMs).unref();
  }

  /** Ends all feeds, and with them the streams of all clients. */
  close(): void {
    for (const { feed, linger } of this.#used.values()) {
      clearTimeout(linger);
      feed.close();
    }
    this.#used.clear();
  }

  #open(name: string, open: () => Feed): Used<Feed> {
    clearTimeout(this.#used.get(name)?.linger);
    const used: Used<Feed> = { feed: open(), clients: 0 };
    this.#used.set(name, used);
    return used;
  }
}
