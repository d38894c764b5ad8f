import type { RunHandle } from '../../../client/run-handle.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { SESSION_LIMITS } from '../../../contracts/constants/limits.js';
import type { SessionEvent, SessionEventPage } from '../../../contracts/schemas/session.js';
import { isNoSuchRun, isPassing } from '../access/http-error.js';
import { type Cursor, END } from './cursor.js';
import { type EventStream, followRun } from './event-stream.js';
import type { Feeds } from './feeds.js';
import type { SentEvent } from './sent-event.js';
import { executionOf, type RunPlace, type SessionCursor, writeSessionCursor } from './session-cursor.js';
import type { StreamClient } from './stream-client.js';

/** The session to follow. */
export interface FollowedSession {
  readonly session: SessionHandle;
  /** The run, if the client may see it. Throws as `Owners.runOf` does. */
  readonly runOf: (runId: string) => Promise<RunHandle>;
  readonly feeds: Feeds;
}

/**
 * Follows a session from a place on: its own events, and the events of each run between its start and its end. Sends `gap` where the session
 * no longer keeps events, and where it was started anew. Ends when the client leaves or the gateway ends.
 */
export function followSession(followed: FollowedSession, start: SessionCursor): EventStream {
  return async (client) => await new SessionFollower(followed, start, client).follow();
}

/** One client of a session. */
class SessionFollower {
  readonly #followed: FollowedSession;
  readonly #client: StreamClient;
  #event: number;
  #execution: string | undefined;
  #run: RunPlace | undefined;
  #following: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(followed: FollowedSession, { event, execution, run }: SessionCursor, client: StreamClient) {
    this.#followed = followed;
    this.#client = client;
    this.#event = event;
    this.#execution = execution;
    this.#run = run;
  }

  async follow(): Promise<void> {
    if (this.#run && this.#run.cursor !== END) this.#beginRun();
    try {
      if (!this.#isOver) await this.#followOwn();
    } finally {
      await this.#following;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Sends the session's own events: those that its feed no longer has, and then those of the feed. */
  async #followOwn(): Promise<void> {
    const { session, feeds } = this.#followed;
    const feed = feeds.joinSession(session);
    try {
      while (!this.#isOver) {
        const changed = feed.changed();
        if (await this.#beginAnew(feed.execution)) continue;
        const kept = feed.after(this.#event);
        const events = kept === 'dropped' ? await this.#readOlder() : kept;
        for (const event of events) await this.#send(event);
        if (events.length > 0) continue;
        if (feed.error !== undefined) throw feed.error;
        if (feed.isOver) return;
        await (kept === 'dropped' ? this.#client.pause(SESSION_LIMITS.followEveryMs) : this.#client.waitFor(changed));
      }
    } finally {
      feeds.leaveSession(session, feed);
    }
  }

  get #isOver(): boolean {
    return this.#client.hasLeft || this.#followed.feeds.isClosed;
  }

  /** Events behind the place that the feed no longer has, after a gap where the session no longer keeps them. None while no worker answers. */
  async #readOlder(): Promise<readonly SessionEvent[]> {
    const page = await this.#page();
    // the feed reports a session that was started anew
    if (!page || executionOf(page, this.#execution) !== this.#execution) return [];
    if (page.first > this.#event + 1) await this.#skipTo(page.first - 1);
    return page.events;
  }

  async #page(): Promise<SessionEventPage | undefined> {
    try {
      return await this.#followed.session.events({ after: this.#event });
    } catch (error) {
      if (!isPassing(error)) throw error;
      return undefined;
    }
  }

  /** Begins at the start of a session that was started anew since the place. False if it was not. */
  async #beginAnew(execution: string | undefined): Promise<boolean> {
    if (execution === undefined || execution === this.#execution) return false;
    const isAnew = this.#execution !== undefined;
    this.#execution = execution;
    if (isAnew) await this.#skipTo(0);
    return isAnew;
  }

  /** Moves the place to another event of the session, and sends a gap. */
  async #skipTo(event: number): Promise<void> {
    this.#event = event;
    await this.#client.send(this.#frame('gap', { missing: 'events' }));
  }

  async #send(event: SessionEvent): Promise<void> {
    // the events of a run stand between its start and its end
    if (event.type === 'session.run.started' || event.type === 'session.run.ended') await this.#following;
    if (this.#isOver) return;
    this.#event = event.seq;
    if (event.type === 'session.run.started') this.#run = { runId: event.runId, cursor: { event: 0 } };
    await this.#client.send(this.#frame(event.type, event));
    if (event.type === 'session.run.started') this.#beginRun();
  }

  #beginRun(): void {
    this.#following = this.#followRun().catch((error: unknown) => {
      this.#failure = { error };
      this.#client.drop();
    });
  }

  /** Follows the run of the place to its result. A run that the server no longer has is a gap. */
  async #followRun(): Promise<void> {
    for (let missed = 0; !this.#isOver && missed < MISSED_MAX; ) {
      const { runId = '', cursor = END } = this.#run ?? {};
      if (cursor === END) return;
      if (!(await this.#readRun(runId, cursor))) missed += 1;
      if (this.#run?.cursor !== END) await this.#client.pause(SESSION_LIMITS.followEveryMs);
    }
    const { runId = '', cursor = END } = this.#run ?? {};
    if (this.#isOver || cursor === END) return;
    this.#run = { runId, cursor: END };
    await this.#client.send(this.#frame('gap', { runId, missing: 'events' }));
  }

  /** False if there is no such run. True after anything else, also an error that passes. */
  async #readRun(runId: string, cursor: Cursor): Promise<boolean> {
    const { runOf, feeds } = this.#followed;
    const write = (event: SentEvent, behind: Cursor): Buffer => this.#frameOfRun(runId, event, behind);
    try {
      await followRun(await runOf(runId), feeds, cursor, write)(this.#client);
    } catch (error) {
      if (isNoSuchRun(error)) return false;
      if (!isPassing(error)) throw error;
    }
    return true;
  }

  #frameOfRun(runId: string, { type, data }: SentEvent, cursor: Cursor): Buffer {
    this.#run = { runId, cursor: type === 'result' ? END : cursor };
    return this.#frame(type, { runId, ...data });
  }

  #frame(type: string, data: object): Buffer {
    const id = writeSessionCursor(this.#followed.session.key, {
      event: this.#event,
      ...(this.#execution === undefined ? {} : { execution: this.#execution }),
      ...(this.#run ? { run: this.#run } : {}),
    });
    // JSON has no line break
    return Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}

/** A run whose start is on its way to the server is there by then. */
const MISSED_MAX = 10;
