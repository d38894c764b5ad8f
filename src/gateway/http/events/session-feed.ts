import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../../client/session-handle.js';
import { SESSION_LIMITS } from '../../../contracts/constants/limits.js';
import type { SessionEvent, SessionEventPage } from '../../../contracts/schemas/session.js';
import { isPassing } from '../access/http-error.js';
import { Feed } from './feed.js';
import { executionOf } from './session-cursor.js';

/** The own events of one session for all its clients. Continues through a missing worker and a lost connection. */
export class SessionFeed extends Feed<SessionEvent, number> {
  readonly #session: Pick<SessionHandle, 'events'>;
  #execution: string | undefined;

  /** Begins to read, always at the start of the session: a place that a client sends is only a claim. */
  constructor(session: Pick<SessionHandle, 'events'>) {
    super(0);
    this.#session = session;
    this.begin();
  }

  /** The mark of the session's first execution. Another one: the session was started anew. Undefined until the first answer. */
  get execution(): string | undefined {
    return this.#execution;
  }

  /** The events that are known behind the one with this `seq`. `dropped`: some of them are no longer kept. */
  after(seq: number): readonly SessionEvent[] | 'dropped' {
    if (seq < this.start) return 'dropped';
    const from = this.entries.findIndex((event) => event.seq > seq);
    return from < 0 ? [] : this.entries.slice(from);
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    for (let after = 0; !signal.aborted; ) {
      const page = await this.#read(after);
      const events = page ? this.#behind(after, page) : [];
      this.add(events ?? []);
      after = events ? (events.at(-1)?.seq ?? after) : 0;
      if (events?.length === 0) await delay(SESSION_LIMITS.followEveryMs, undefined, { signal }).catch(ignore);
    }
  }

  protected sizeOf(event: SessionEvent): number {
    return JSON.stringify(event).length;
  }

  protected placeOf({ seq }: SessionEvent): number {
    return seq;
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
    if (isAnew) this.forget(0);
    else if (page.first > after + 1) this.forget(page.first - 1);
    return isAnew ? undefined : page.events;
  }
}

function ignore(): void {
  // the feed was closed
}
