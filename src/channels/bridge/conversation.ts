import { setTimeout as delay } from 'node:timers/promises';
import { CHANNEL_LIMITS, SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SessionState } from '../../contracts/schemas/session.js';
import type { JournaledState } from '../journal/journaled-state.js';
import type { ChannelSettings } from './channel-settings.js';
import { deliverRun } from './deliver-run.js';
import { droppedNotice } from './end-notice.js';
import { type Outbox, type Report } from './outbox.js';
import { PartDelivery } from './part-delivery.js';
import { type AnsweringRun, runAnswers } from './run-answers.js';
import { whileTyping } from './while-typing.js';

/** What a conversation needs. */
export interface ConversationOptions {
  readonly conversation: string;
  readonly session: { query(): Promise<SessionState> };
  readonly runOf: (runId: string) => AnsweringRun;
  readonly journaled: JournaledState;
  readonly outbox: Outbox;
  readonly settings: ChannelSettings;
  /** Shows that an answer is being written. Never rejects. */
  readonly typing: () => Promise<void>;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/**
 * Serves a conversation until each of its messages is settled: answered by a run that was delivered, or reported as not answered. Rejects
 * if the signal aborts.
 */
export async function serveConversation(options: ConversationOptions): Promise<void> {
  await new ConversationServer(options).serve();
}

class ConversationServer {
  readonly #options: ConversationOptions;
  readonly #delivered = new Set<string>();

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  async serve(): Promise<void> {
    for (let pauseMs = PAUSE_MS_MIN; this.#open.size > 0; ) {
      const state = await this.#options.session.query().catch(ifAway);
      if (await this.#advance(state)) pauseMs = PAUSE_MS_MIN;
      else {
        await delay(pauseMs, undefined, { signal: this.#options.signal });
        pauseMs = Math.min(2 * pauseMs, SESSION_LIMITS.followEveryMs);
      }
    }
  }

  get #open(): ReadonlyMap<string, number> {
    return this.#options.journaled.state.openIn(this.#options.conversation);
  }

  /** Settles what can be settled. False if nothing can. */
  async #advance(state: SessionState | 'unstarted' | undefined): Promise<boolean> {
    if (state === undefined) return false;
    if (state === 'unstarted') return await this.#settleMissing([]);
    const run = state.runs.find(({ messageIds }) => messageIds.some((id) => this.#open.has(id)));
    if (run) return await this.#serveRun(run);
    const dropped = state.dropped.find(({ id }) => this.#open.has(id));
    if (dropped) return await this.#settleDropped(dropped.id, dropped.reason);
    return await this.#settleMissing(state.queued.map(({ id }) => id));
  }

  async #serveRun({ runId, messageIds, reason }: SessionState['runs'][number]): Promise<boolean> {
    const { conversation, journaled } = this.#options;
    const isNew = !this.#delivered.has(runId);
    if (isNew && (await this.#deliver(runId, messageIds))) this.#delivered.add(runId);
    // the session reads the end of its run in a task of its own, and gives back what the run did not consume
    if (reason === undefined || !this.#delivered.has(runId)) return isNew && this.#delivered.has(runId);
    const ids = messageIds.filter((id) => this.#open.has(id));
    await journaled.add({ type: 'settled', conversation, ids, run: runId });
    return true;
  }

  /** False if the run does not answer yet: its start is on its way to the server. */
  async #deliver(runId: string, messageIds: readonly string[]): Promise<boolean> {
    const { conversation, journaled, outbox, settings, runOf, typing, signal } = this.#options;
    const own = messageIds.filter((id) => this.#open.has(id));
    const delivery = deliverRun({
      conversation,
      runId,
      settings,
      outbox,
      sent: (part) => journaled.state.blocks(part),
      messageIds: [...own, ...messageIds],
      updates: runAnswers(runOf(runId), signal),
    });
    try {
      const isDelivered = await whileTyping(delivery, typing);
      signal.throwIfAborted();
      return isDelivered;
    } catch (error) {
      if (!(error instanceof PerdureError) || error.code !== 'RUN_NOT_FOUND') throw error;
      return false;
    }
  }

  async #settleDropped(id: string, reason: string): Promise<true> {
    const { conversation, journaled, outbox, settings } = this.#options;
    const run = `message/${id}`;
    const part = new PartDelivery(
      { conversation, run, part: 'dropped' },
      { outbox, sizes: settings.sizes, sent: (place) => journaled.state.blocks(place) },
    );
    await part.settle({ text: droppedNotice(reason), replyTo: id });
    await journaled.add({ type: 'settled', conversation, ids: [id], run });
    return true;
  }

  /** Gives up messages that the session does not list: it never got them, or it was ended. */
  async #settleMissing(queued: readonly string[]): Promise<boolean> {
    const old = Date.now() - CHANNEL_LIMITS.missingMs;
    const missing = [...this.#open].find(([id, at]) => at < old && !queued.includes(id));
    if (!missing) return false;
    this.#options.report(`MESSAGE_MISSING: the session of conversation ${this.#options.conversation} does not list message ${missing[0]}`);
    return await this.#settleDropped(missing[0], 'it is not in the session any more');
  }
}

/** Most sessions start a run at once. */
const PAUSE_MS_MIN = 50;

/** A worker or the server may come back. */
function ifAway(error: unknown): 'unstarted' | undefined {
  const code = error instanceof PerdureError ? error.code : undefined;
  if (code === 'NO_SESSION') return 'unstarted';
  if (code === 'NO_WORKER' || code === 'TEMPORAL_UNREACHABLE') return undefined;
  throw error;
}
