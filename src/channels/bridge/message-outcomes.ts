import { setTimeout as delay } from 'node:timers/promises';
import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import type { SessionEvent, SessionEventPage, SessionState } from '../../contracts/schemas/session.js';
import type { MessageOutcome } from '../journal/channel-state.js';
import type { JournaledState } from '../journal/journaled-state.js';

/** The session of a conversation, as far as the outcomes of messages need it. */
export interface DecidingSession {
  query(): Promise<SessionState>;
  events(request: { readonly after: number; readonly types: readonly SessionEvent['type'][] }): Promise<SessionEventPage>;
}

/** Options of `MessageOutcomes`. */
export interface MessageOutcomesOptions {
  readonly conversation: string;
  readonly session: DecidingSession;
  readonly journaled: JournaledState;
}

/**
 * Learns what the session decided about the open messages of a conversation, and records it in the journal: a session lists only its newest
 * runs and dropped messages, and keeps its events for some time.
 */
export class MessageOutcomes {
  readonly #options: MessageOutcomesOptions;
  /** The last event that was read. */
  #after = 0;

  constructor(options: MessageOutcomesOptions) {
    this.#options = options;
  }

  /** Learns from a state of the session, and from its events if the state does not list each open message. Throws as the session does. */
  async learn(state: SessionState): Promise<void> {
    // the events come first: they are older than what the state lists
    if (this.#unlisted(state).length > 0) await this.#readEvents();
    for (const { runId, messageIds, reason } of state.runs) if (reason !== undefined) await this.#assign(messageIds, runId);
    for (const { id, reason } of state.dropped) await this.#drop(id, reason);
  }

  /** Learns from all events that the session keeps. Returns true if it keeps all. */
  async learnAgain(): Promise<boolean> {
    // another session with the same key counts its events from 1
    this.#after = 0;
    return await this.#readEvents();
  }

  /** Learns again and again, until the signal aborts, while the outcomes of some messages are not known. Never rejects. */
  async follow(signal: AbortSignal, everyMs: number = CHANNEL_LIMITS.learnEveryMs): Promise<void> {
    while (!signal.aborted) {
      try {
        await delay(everyMs, undefined, { signal });
        if (this.#undecided.length > 0) await this.learn(await this.#options.session.query());
      } catch {
        // the next look at the session reports its error
      }
    }
  }

  get #undecided(): string[] {
    const { conversation, journaled } = this.#options;
    const outcomes = this.#outcomes;
    return [...journaled.state.openIn(conversation).keys()].filter((id) => !outcomes.has(id));
  }

  get #outcomes(): ReadonlyMap<string, MessageOutcome> {
    return this.#options.journaled.state.outcomesIn(this.#options.conversation);
  }

  /** The messages without an outcome that the session does not list. */
  #unlisted({ queued, runs, dropped }: SessionState): string[] {
    const listed = new Set([
      ...queued.map(({ id }) => id),
      ...runs.flatMap(({ messageIds }) => messageIds),
      ...dropped.map(({ id }) => id),
    ]);
    return this.#undecided.filter((id) => !listed.has(id));
  }

  async #readEvents(): Promise<boolean> {
    let isWhole = true;
    while (true) {
      const { first, next, events } = await this.#options.session.events({ after: this.#after, types: DECISIONS });
      isWhole &&= first <= this.#after + 1;
      for (const event of events) {
        if (event.type === 'session.run.ended') await this.#assign(event.messageIds, event.runId);
        else if (event.type === 'message.dropped') await this.#drop(event.id, event.reason);
      }
      if (next <= this.#after) return isWhole;
      this.#after = next;
    }
  }

  async #assign(messageIds: readonly string[], run: string): Promise<void> {
    const undecided = new Set(this.#undecided);
    const ids = messageIds.filter((id) => undecided.has(id));
    const { conversation, journaled } = this.#options;
    if (ids.length > 0) await journaled.add({ type: 'assigned', conversation, ids, run });
  }

  async #drop(id: string, reason: string): Promise<void> {
    const { conversation, journaled } = this.#options;
    if (this.#undecided.includes(id)) await journaled.add({ type: 'dropped', conversation, id, reason: reason.slice(0, REASON_CHARS_MAX) });
  }
}

/** The events after which nothing changes for a message. */
const DECISIONS = ['session.run.ended', 'message.dropped'] as const;

/** The journal keeps no more of a reason. */
const REASON_CHARS_MAX = 1_000;
