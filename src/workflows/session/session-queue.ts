import { CONTINUE_AS_NEW_LIMITS, SESSION_LIMITS } from '../../contracts/constants/limits.js';
import type { Receipt } from '../../contracts/schemas/run.js';
import type { DroppedSend, QueueMode, QueueOptions, SendInput, SentPart, WaitingSend } from '../../contracts/schemas/session.js';
import { OverflowSummary } from './overflow-summary.js';

/** A message that waits in a session. */
export interface QueuedSend {
  readonly id: string;
  readonly parts: readonly SentPart[];
  /** The mode that its sender asked for. Absent: that of the session. */
  readonly mode?: QueueMode;
  /** When it was accepted, in milliseconds since 1970. */
  readonly at: number;
  /** Its size as JSON, in UTF-16 units. */
  readonly size: number;
  /** Hash of its content and its signature, until a worker has checked them. Only in sessions that ask for signatures. */
  readonly unchecked?: { readonly content: string; readonly auth?: unknown };
}

/** The options of a queue, complete. */
export type QueueRules = { readonly [Name in keyof QueueOptions]-?: NonNullable<QueueOptions[Name]> };

/** The messages of the next run. `ids` is empty for the summary of dropped messages. */
export interface Batch {
  readonly messages: readonly QueuedSend[];
  readonly parts: readonly SentPart[];
}

/** The next batch, the time until there is one, or `undefined` for an empty queue. */
export type NextBatch = { readonly kind: 'batch' } | { readonly kind: 'wait'; readonly ms: number } | undefined;

/** What a queue carries over continue-as-new. */
export interface CarriedQueue {
  readonly waiting: readonly QueuedSend[];
  readonly seenIds: readonly string[];
  readonly dropped: readonly DroppedSend[];
  readonly summary?: { readonly count: number; readonly lines: readonly string[] };
}

/**
 * The waiting messages of a session. An accepted message leaves the queue exactly once: into a run, into the active run, or into `dropped`.
 * Deterministic: time comes in.
 */
export class SessionQueue {
  readonly #waiting: QueuedSend[];
  readonly #seenIds: Set<string>;
  readonly #dropped: DroppedSend[];
  readonly #summary: OverflowSummary;
  /** Called for each dropped message. */
  onDropped: (dropped: DroppedSend) => void = () => undefined;

  constructor(carried?: CarriedQueue) {
    this.#waiting = [...(carried?.waiting ?? [])];
    this.#seenIds = new Set(carried?.seenIds);
    this.#dropped = [...(carried?.dropped ?? [])];
    this.#summary = new OverflowSummary(carried?.summary);
  }

  get waiting(): readonly QueuedSend[] {
    return this.#waiting;
  }

  get dropped(): readonly DroppedSend[] {
    return this.#dropped;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#summary.isEmpty;
  }

  /** True for a message that was accepted or dropped before. */
  hasSeen(id: string): boolean {
    return this.#seenIds.has(id);
  }

  /**
   * Accepts a message. `reportsRefusal`: its sender gets no receipt, so a message without room counts as dropped. `passes`: the active run
   * takes it at once, so that it needs no place.
   */
  accept(
    message: QueuedSend,
    rules: QueueRules,
    { reportsRefusal, passes }: { readonly reportsRefusal: boolean; readonly passes: boolean },
  ): Receipt {
    const { id } = message;
    if (this.#seenIds.has(id)) return this.#receiptAgain(id);
    if (!passes && !this.#makeRoom(message, rules)) {
      if (reportsRefusal) this.refuse(id, fullReason(rules.cap));
      return { id, accepted: false, position: -1, duplicate: false };
    }
    this.#remember(id);
    const position = modeOf(message, rules) === 'interrupt' ? 0 : this.#waiting.length;
    this.#waiting.splice(position, 0, message);
    return { id, accepted: true, position, duplicate: false };
  }

  /** Reports a message that cannot be taken, and that nobody gets a receipt for. */
  refuse(id: string, reason: string): void {
    this.#remember(id);
    this.#drop(id, reason);
  }

  /** Withdraws a waiting message. False when it does not wait. */
  unsend(id: string): boolean {
    if (!this.#remove(id)) return false;
    this.#drop(id, 'unsent');
    return true;
  }

  /** Drops a waiting message. */
  drop(id: string, reason: string): void {
    if (this.#remove(id)) this.#drop(id, reason);
  }

  /** Drops messages that were taken out of the queue, for a run that cannot be started. */
  dropTaken(messages: readonly QueuedSend[], reason: string): void {
    for (const { id } of messages) this.#drop(id, reason);
  }

  /** Drops all waiting messages, in their order. */
  dropAll(reason: string): void {
    for (const { id } of this.#waiting.splice(0)) this.#drop(id, reason);
    this.#summary.clear();
  }

  /** The messages whose signature no worker has checked. */
  unchecked(): readonly QueuedSend[] {
    return this.#waiting.filter(({ unchecked }) => unchecked !== undefined);
  }

  /** A worker found the signature of a waiting message valid. */
  admit(id: string): void {
    const at = this.#waiting.findIndex((message) => message.id === id);
    const message = this.#waiting[at];
    if (!message) return;
    const { unchecked: _, ...checked } = message;
    this.#waiting[at] = checked;
  }

  /** The waiting message that asks to interrupt the active run. */
  interrupting(rules: QueueRules): QueuedSend | undefined {
    return this.#waiting.find((message) => isChecked(message) && modeOf(message, rules) === 'interrupt');
  }

  /** True if more than one message waits that asks to interrupt a run. */
  hasRivals(rules: QueueRules): boolean {
    return this.#waiting.filter((message) => modeOf(message, rules) === 'interrupt').length > 1;
  }

  /**
   * The newest message that asks to interrupt is next; the earlier ones wait like any other, in the order in which they were accepted. Else
   * each of them would interrupt the run of a newer one, and the oldest would be the only one that is answered.
   */
  deferRivals(rules: QueueRules): void {
    const accepted = [...this.#seenIds];
    const orderOf = ({ id }: QueuedSend): number => accepted.indexOf(id);
    const rivals = this.#waiting.filter((message) => modeOf(message, rules) === 'interrupt').toSorted((a, b) => orderOf(a) - orderOf(b));
    for (const { id } of rivals) this.#remove(id);
    const newest = rivals.splice(-1);
    for (const message of rivals) {
      const later = this.#waiting.findIndex((other) => orderOf(other) > orderOf(message));
      this.#waiting.splice(later < 0 ? this.#waiting.length : later, 0, { ...message, mode: 'followup' });
    }
    this.#waiting.unshift(...newest);
  }

  /** The first waiting message that the active run can take: a text alone. */
  steering(rules: QueueRules): QueuedSend | undefined {
    return this.#waiting.find((message) => isChecked(message) && isSteer(message, rules));
  }

  /** Takes a message out of the queue, for the active run. */
  take(id: string): void {
    this.#remove(id);
  }

  /** Puts messages back that a run did not consume: in their order, before all others but those that interrupted it. */
  putBack(messages: readonly QueuedSend[], rules: QueueRules): void {
    const first = this.#waiting.findIndex((message) => modeOf(message, rules) !== 'interrupt');
    const returned = messages.map((message) => ({ ...message, mode: 'followup' as const }));
    this.#waiting.splice(first < 0 ? this.#waiting.length : first, 0, ...returned);
  }

  /** When the next batch is ready. */
  next(rules: QueueRules, now: number): NextBatch {
    if (this.isEmpty) return undefined;
    const collected = this.#collected(rules);
    const newest = Math.max(...collected.map(({ at }) => at));
    // a full queue would drop what the wait is for
    const isDue = collected.length === 0 || this.#waiting.length >= rules.cap || now - newest >= rules.debounceMs;
    return isDue ? { kind: 'batch' } : { kind: 'wait', ms: newest + rules.debounceMs - now };
  }

  /** Takes the next batch: the summary of dropped messages, the `collect` messages at the head, or one message. */
  takeBatch(rules: QueueRules): Batch {
    const [head] = this.#waiting;
    const isInterrupt = head !== undefined && modeOf(head, rules) === 'interrupt';
    if (!this.#summary.isEmpty && !isInterrupt) return { messages: [], parts: [{ type: 'text', text: this.#summary.take() }] };
    const collected = this.#collected(rules);
    const messages = this.#waiting.splice(0, Math.max(1, collected.length));
    return { messages, parts: messages.flatMap(({ parts }) => parts) };
  }

  /** The queue as query `session` shows it. */
  list(rules: QueueRules): WaitingSend[] {
    return this.#waiting.map((message, position) => ({ id: message.id, position, mode: modeOf(message, rules) }));
  }

  /** The state that continue-as-new carries over. */
  carry(): CarriedQueue {
    const summary = this.#summary.carry();
    return { waiting: this.#waiting, seenIds: [...this.#seenIds], dropped: this.#dropped, ...(summary ? { summary } : {}) };
  }

  /** The `collect` messages at the head that fit into one run. */
  #collected(rules: QueueRules): readonly QueuedSend[] {
    if (!this.#summary.isEmpty) return [];
    const others = this.#waiting.findIndex((message) => modeOf(message, rules) !== 'collect');
    const collected = others < 0 ? this.#waiting : this.#waiting.slice(0, others);
    let size = 0;
    const fits = collected.findIndex((message) => {
      size += message.size;
      return size > SESSION_LIMITS.collectedBytesMax;
    });
    return fits < 0 ? collected : collected.slice(0, Math.max(1, fits));
  }

  /** Makes room for a message by the drop policy. False when there is none. */
  #makeRoom(message: QueuedSend, rules: QueueRules): boolean {
    while (!this.#hasRoom(message, rules)) {
      if (rules.drop === 'new') return false;
      const oldest = this.#oldest();
      if (!oldest) return false;
      this.#remove(oldest.id);
      // an unchecked text must not reach a run
      if (rules.drop === 'summarize' && isChecked(oldest)) this.#summary.add(oldest.parts);
      this.#drop(oldest.id, fullReason(rules.cap));
    }
    return true;
  }

  #hasRoom({ size }: QueuedSend, { cap }: QueueRules): boolean {
    const waiting = this.#waiting.reduce((sum, message) => sum + message.size, 0);
    return this.#waiting.length < cap && (this.#waiting.length === 0 || waiting + size <= SESSION_LIMITS.waitingBytesMax);
  }

  #oldest(): QueuedSend | undefined {
    return this.#waiting.reduce<QueuedSend | undefined>(
      (oldest, message) => (oldest === undefined || message.at < oldest.at ? message : oldest),
      undefined,
    );
  }

  #remove(id: string): boolean {
    const at = this.#waiting.findIndex((message) => message.id === id);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  #drop(id: string, reason: string): void {
    this.#dropped.push({ id, reason });
    if (this.#dropped.length > SESSION_LIMITS.droppedShown) this.#dropped.shift();
    this.onDropped({ id, reason });
  }

  #remember(id: string): void {
    this.#seenIds.add(id);
    const [oldest] = this.#seenIds;
    if (this.#seenIds.size > CONTINUE_AS_NEW_LIMITS.seenIdsMax && oldest !== undefined) this.#seenIds.delete(oldest);
  }

  #receiptAgain(id: string): Receipt {
    const accepted = !this.#dropped.some((dropped) => dropped.id === id);
    return { id, accepted, position: this.#waiting.findIndex((message) => message.id === id), duplicate: true };
  }
}

/** The mode of a message: its own, else that of the session. */
export function modeOf({ mode }: Pick<QueuedSend, 'mode'>, rules: QueueRules): QueueMode {
  return mode ?? rules.mode;
}

/** True for a message that an active run can take: a run takes texts alone. */
export function isSteer(message: Pick<QueuedSend, 'mode' | 'parts'>, rules: QueueRules): boolean {
  return modeOf(message, rules) === 'steer' && message.parts.every(({ type }) => type === 'text');
}

/** The parts of a message as its sender gave them: the text comes first. */
export function partsOf({ text, parts = [] }: SendInput): readonly SentPart[] {
  return [...(text === undefined ? [] : [{ type: 'text' as const, text }]), ...parts];
}

function isChecked({ unchecked }: QueuedSend): boolean {
  return unchecked === undefined;
}

function fullReason(cap: number): string {
  return `the queue was full (${cap} messages)`;
}
