import { setTimeout as delay } from 'node:timers/promises';
import { CHANNEL_LIMITS, SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SessionState } from '../../contracts/schemas/session.js';
import type { JournaledState } from '../journal/journaled-state.js';
import type { ChannelSettings } from './channel-settings.js';
import { deliverRun } from './deliver-run.js';
import { droppedNotice, GONE_NOTICE, missingNotice } from './end-notice.js';
import { type DecidingSession, MessageOutcomes } from './message-outcomes.js';
import { type Outbox, type Report } from './outbox.js';
import { PartDelivery, type PartText } from './part-delivery.js';
import { type AnsweringRun, runAnswers } from './run-answers.js';
import { whileTyping } from './while-typing.js';

/** What a conversation needs. */
export interface ConversationOptions {
  readonly conversation: string;
  readonly session: DecidingSession;
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

/** A run that answers open messages. `isOver`: the session has seen its end. */
interface ServedRun {
  readonly runId: string;
  readonly ids: readonly string[];
  readonly isOver: boolean;
}

class ConversationServer {
  readonly #options: ConversationOptions;
  readonly #outcomes: MessageOutcomes;
  readonly #delivered = new Set<string>();

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#outcomes = new MessageOutcomes(options);
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
    if (state !== 'unstarted') await this.#outcomes.learn(state);
    const run = this.#runThatEnded() ?? (state === 'unstarted' ? undefined : this.#activeRun(state));
    if (run) return await this.#serveRun(run);
    for (const [id, outcome] of this.#decided) if ('reason' in outcome) return await this.#settleDropped(id, outcome.reason);
    return await this.#settleMissing(state);
  }

  get #decided(): ReturnType<JournaledState['state']['outcomesIn']> {
    return this.#options.journaled.state.outcomesIn(this.#options.conversation);
  }

  /** The first run that ended, with the messages that it answers. */
  #runThatEnded(): ServedRun | undefined {
    const answered = [...this.#decided].flatMap(([id, outcome]) => ('run' in outcome ? [{ id, run: outcome.run }] : []));
    const [first] = answered;
    if (!first) return undefined;
    return { runId: first.run, ids: answered.filter(({ run }) => run === first.run).map(({ id }) => id), isOver: true };
  }

  #activeRun({ runs }: SessionState): ServedRun | undefined {
    for (const { runId, messageIds, reason } of runs) {
      const ids = messageIds.filter((id) => this.#open.has(id));
      if (reason === undefined && ids.length > 0) return { runId, ids, isOver: false };
    }
    return undefined;
  }

  /** The session reads the end of its run in a task of its own, and gives back what the run did not consume: only then are its messages settled. */
  async #serveRun({ runId, ids, isOver }: ServedRun): Promise<boolean> {
    const { conversation, journaled } = this.#options;
    const isNew = !this.#delivered.has(runId);
    if (isNew) {
      const end = await this.#deliver(runId, ids);
      if (end === 'unknown' && isOver) await this.#reportGone(runId, ids);
      if (end === 'delivered' || isOver) this.#delivered.add(runId);
    }
    if (!isOver) return isNew && this.#delivered.has(runId);
    await journaled.add({ type: 'settled', conversation, ids: [...ids], run: runId });
    return true;
  }

  /** `unknown`: the server does not have the run. Its start is on its way, or its history is no longer kept. */
  async #deliver(runId: string, ids: readonly string[]): Promise<'delivered' | 'unknown'> {
    const { conversation, journaled, outbox, settings, runOf, typing, signal } = this.#options;
    const delivery = deliverRun({
      conversation,
      runId,
      settings,
      outbox,
      sent: (part) => journaled.state.blocks(part),
      answers: ids[0] ?? '',
      messageIds: ids,
      updates: (stop) => runAnswers(runOf(runId), AbortSignal.any([signal, stop])),
    });
    const over = new AbortController();
    const learning = this.#outcomes.follow(AbortSignal.any([signal, over.signal]));
    try {
      const isDelivered = await whileTyping(delivery, typing);
      signal.throwIfAborted();
      return isDelivered ? 'delivered' : 'unknown';
    } catch (error) {
      if (!(error instanceof PerdureError) || !UNKNOWN_RUN.has(error.code)) throw error;
      return 'unknown';
    } finally {
      over.abort();
      await learning;
    }
  }

  async #reportGone(run: string, ids: readonly string[]): Promise<void> {
    const { conversation, report } = this.#options;
    report(`ANSWER_GONE: conversation ${conversation}: run ${run} is no longer kept; its answer to ${ids.join(', ')} cannot be sent`);
    await this.#notify({ run, part: 'gone' }, { text: GONE_NOTICE, replyTo: ids[0] });
  }

  async #settleDropped(id: string, reason: string): Promise<true> {
    const { conversation, report } = this.#options;
    report(`MESSAGE_DROPPED: conversation ${conversation}: message ${id} was not answered: ${reason}`);
    return await this.#settleUnanswered(id, droppedNotice(reason));
  }

  /** Gives up messages that the session does not list: it never got them, or it was ended. */
  async #settleMissing(state: SessionState | 'unstarted'): Promise<boolean> {
    const listed = new Set(state === 'unstarted' ? [] : state.queued.map(({ id }) => id));
    const old = Date.now() - CHANNEL_LIMITS.missingMs;
    const isMissing = ([id, at]: readonly [string, number]): boolean => at < old && !listed.has(id) && !this.#decided.has(id);
    if (![...this.#open].some(isMissing)) return false;
    const isCertain = state === 'unstarted' || (await this.#outcomes.learnAgain());
    const missing = [...this.#open].find(isMissing);
    // the events told more
    if (!missing) return true;
    this.#options.report(`MESSAGE_MISSING: the session of conversation ${this.#options.conversation} does not list message ${missing[0]}`);
    return await this.#settleUnanswered(missing[0], missingNotice(isCertain));
  }

  async #settleUnanswered(id: string, text: string): Promise<true> {
    const run = `message/${id}`;
    await this.#notify({ run, part: 'dropped' }, { text, replyTo: id });
    await this.#options.journaled.add({ type: 'settled', conversation: this.#options.conversation, ids: [id], run });
    return true;
  }

  async #notify(place: { readonly run: string; readonly part: string }, text: PartText): Promise<void> {
    const { conversation, journaled, outbox, settings } = this.#options;
    const part = new PartDelivery(
      { conversation, ...place },
      { outbox, sizes: settings.sizes, answers: text.replyTo ?? '', sent: (of) => journaled.state.blocks(of) },
    );
    await part.settle(text);
  }
}

/** The server does not have the run, or another workflow has its id now. */
const UNKNOWN_RUN: ReadonlySet<string> = new Set(['RUN_NOT_FOUND', 'NOT_A_RUN']);

/** Most sessions start a run at once. */
const PAUSE_MS_MIN = 50;

/** A worker or the server may come back. */
function ifAway(error: unknown): 'unstarted' | undefined {
  const code = error instanceof PerdureError ? error.code : undefined;
  if (code === 'NO_SESSION') return 'unstarted';
  if (code === 'NO_WORKER' || code === 'TEMPORAL_UNREACHABLE') return undefined;
  throw error;
}
