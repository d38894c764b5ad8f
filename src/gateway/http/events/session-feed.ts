import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../../client/session-handle.js';
import { HTTP_LIMITS, SESSION_LIMITS } from '../../../contracts/constants/limits.js';
import type { SessionEvent, SessionEventPage } from '../../../contracts/schemas/session.js';
import { isPassing } from '../access/http-error.js';
import { Changes } from './changes.js';
import { executionOf } from './session-cursor.js';

/**
 * The own events of one session for all its clients: queried once, and kept as far as `HTTP_LIMITS.feedBytesMax`. Each client reads them at
 * its own pace. Continues through a missing worker and a lost connection.
 */
export class SessionFeed {
  readonly #session: Pick<SessionHandle, 'events'>;
  readonly #stop = new AbortController();
  readonly #changes = new Changes();
  /** The events that are kept, oldest first, and `seq` of the last one that is not. */
  #events: SessionEvent[] = [];
  #start = 0;
  #bytes = 0;
  #execution: string | undefined;
  #isOver = false;
  #error: unknown;

  /** Begins to read, always at the start of the session: a place that a client sends is only a claim. */
  constructor(session: Pick<SessionHandle, 'events'>) {
    this.#session = session;
    void this.#follow().then(
      () => this.#end(),
      (error: unknown) => {
        this.#error = error;
        this.#end();
      },
    );
  }

  /** True when no event follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The mark of the session's first execution. Another one: the session was started anew. Undefined until the first answer. */
  get execution(): string | undefined {
    return this.#execution;
  }

  /** Why no event follows. Undefined for a feed that was closed. */
  get error(): unknown {
    return this.#error;
  }

  /** The events that are known behind the one with this `seq`. `dropped`: some of them are no longer kept. */
  after(seq: number): readonly SessionEvent[] | 'dropped' {
    if (seq < this.#start) return 'dropped';
    const from = this.#events.findIndex((event) => event.seq > seq);
    return from < 0 ? [] : this.#events.slice(from);
  }

  /** Resolves at the next event, and at the end. */
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
    for (let after = 0; !signal.aborted; ) {
      const page = await this.#read(after);
      const events = page ? this.#behind(after, page) : [];
      this.#add(events ?? []);
      after = events ? (events.at(-1)?.seq ?? after) : 0;
      if (events?.length === 0) await delay(SESSION_LIMITS.followEveryMs, undefined, { signal }).catch(ignore);
    }
  }

  async #read(after: number): Promise<SessionEventPage | undefined> {
    try {
      return await this.#session.events({ after });
    } catch (error) {
      if (!isPassing(error)) throw error;
      return undefined;
    }
  }

  /** The events of a page. Forgets those before them that do not adjoin. Undefined for a page of a session that was started anew. */
  #behind(after: number, page: SessionEventPage): readonly SessionEvent[] | undefined {
    const before = this.#execution;
    this.#execution = executionOf(page, before);
    const isAnew = before !== undefined && before !== this.#execution;
    if (isAnew) this.#forget(0);
    else if (page.first > after + 1) this.#forget(page.first - 1);
    return isAnew ? undefined : page.events;
  }

  #forget(start: number): void {
    this.#events = [];
    this.#bytes = 0;
    this.#start = start;
    this.#changes.note();
  }

  #add(events: readonly SessionEvent[]): void {
    if (events.length === 0 || this.#isOver) return;
    this.#events.push(...events);
    for (const event of events) this.#bytes += sizeOf(event);
    this.#trim();
    this.#changes.note();
  }

  /** Drops the oldest events above the limit. */
  #trim(): void {
    let count = 0;
    for (const event of this.#events.slice(0, -1)) {
      if (this.#bytes <= HTTP_LIMITS.feedBytesMax) break;
      this.#bytes -= sizeOf(event);
      this.#start = event.seq;
      count += 1;
    }
    if (count > 0) this.#events = this.#events.slice(count);
  }

  #end(): void {
    this.#isOver = true;
    this.#changes.note();
  }
}

function sizeOf(event: SessionEvent): number {
  return JSON.stringify(event).length;
}

function ignore(): void {
  // the feed was closed
}
