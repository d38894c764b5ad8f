import { STEER_MODES } from '../../contracts/constants/steer-modes.js';
import type { QueuedMessage } from '../../contracts/schemas/carried-state.js';
import type { ModelDirective } from '../policies/model/model-directive.js';

/** A queued message with the commands at its beginning. */
export interface WaitingMessage extends QueuedMessage {
  readonly directives: readonly ModelDirective[];
}

/**
 * Messages in the order in which they were accepted. What a handler asks for each message takes the same time however many wait: a burst
 * of thousands must not stall the workflow task.
 */
export class MessageQueue {
  readonly #messages = new Map<string, WaitingMessage>();
  #last: string | undefined;
  #chars = 0;
  #urgent = 0;
  #directed = 0;
  /** No message expires before this time: later than the truth only never. */
  #firstExpiry = NEVER;

  constructor(messages: Iterable<WaitingMessage> = []) {
    for (const message of messages) this.set(message);
  }

  /** The number of messages, expired ones included. */
  get size(): number {
    return this.#messages.size;
  }

  /** The length of all texts in UTF-16 units: a cheap estimate of bytes. */
  get chars(): number {
    return this.#chars;
  }

  /** True while one of them is a `preempt` or an `interrupt`. */
  get hasUrgent(): boolean {
    return this.#urgent > 0;
  }

  /** True while one of them has commands. */
  get hasDirected(): boolean {
    return this.#directed > 0;
  }

  /** The message that was added last, if it still waits; else the newest one that does. */
  get last(): WaitingMessage | undefined {
    if (this.#last === undefined) for (const id of this.#messages.keys()) this.#last = id;
    return this.#last === undefined ? undefined : this.#messages.get(this.#last);
  }

  has(id: string): boolean {
    return this.#messages.has(id);
  }

  get(id: string): WaitingMessage | undefined {
    return this.#messages.get(id);
  }

  values(): IterableIterator<WaitingMessage> {
    return this.#messages.values();
  }

  /** Adds a message at the end, or replaces the one with its id in its place. */
  set(message: WaitingMessage): void {
    const before = this.#messages.get(message.id);
    if (before) this.#count(before, -1);
    else this.#last = message.id;
    this.#messages.set(message.id, message);
    this.#count(message, 1);
    this.#firstExpiry = Math.min(this.#firstExpiry, message.expiresAt ?? NEVER);
  }

  /** Removes a message. False when none has this id. */
  delete(id: string): boolean {
    const message = this.#messages.get(id);
    if (!message) return false;
    this.#count(message, -1);
    if (this.#last === id) this.#last = undefined;
    return this.#messages.delete(id);
  }

  /** The position of a message, from 0; -1 for one that does not wait. */
  positionOf(id: string): number {
    if (!this.#messages.has(id)) return -1;
    let position = 0;
    for (const waiting of this.#messages.keys()) {
      if (waiting === id) break;
      position += 1;
    }
    return position;
  }

  /** The newest messages, from the first one on with which the queue is larger than this. */
  beyond(max: { readonly messages: number; readonly chars: number }): WaitingMessage[] {
    let [messages, chars] = [0, 0];
    return [...this.#messages.values()].filter(({ text }) => {
      messages += 1;
      chars += text.length;
      return messages > max.messages || chars > max.chars;
    });
  }

  /** True when a message may have expired by now. */
  mayExpire(nowMs: number): boolean {
    return this.#firstExpiry <= nowMs;
  }

  /** Removes the expired messages and returns them. */
  takeExpired(nowMs: number): WaitingMessage[] {
    if (!this.mayExpire(nowMs)) return [];
    const expired = [...this.#messages.values()].filter((message) => isExpired(message, nowMs));
    for (const { id } of expired) this.delete(id);
    this.#firstExpiry = NEVER;
    for (const { expiresAt = NEVER } of this.#messages.values()) this.#firstExpiry = Math.min(this.#firstExpiry, expiresAt);
    return expired;
  }

  #count(message: WaitingMessage, by: 1 | -1): void {
    this.#chars += by * message.text.length;
    if (isUrgent(message)) this.#urgent += by;
    if (message.directives.length > 0) this.#directed += by;
  }
}

/** True for a message that skips calls or aborts an answer. */
export function isUrgent({ mode }: QueuedMessage): boolean {
  return mode === 'preempt' || mode === 'interrupt';
}

/** True from the time on at which an unread message expires. */
export function isExpired({ expiresAt }: QueuedMessage, nowMs: number): boolean {
  return expiresAt !== undefined && expiresAt <= nowMs;
}

/** Merges two equal messages: the first id, the more urgent mode, and the later expiry. */
export function mergeMessages(first: WaitingMessage, second: WaitingMessage): WaitingMessage {
  const urgency = Math.max(urgencyOf(first), urgencyOf(second));
  const mode = STEER_MODES[urgency];
  const { id, text, directives } = first;
  const expiresAt = Math.max(first.expiresAt ?? NEVER, second.expiresAt ?? NEVER);
  return { id, text, directives, ...(mode === undefined ? {} : { mode }), ...(expiresAt === NEVER ? {} : { expiresAt }) };
}

const NEVER = Number.POSITIVE_INFINITY;

/** The modes are listed in the order of their urgency. */
function urgencyOf({ mode = 'boundary' }: QueuedMessage): number {
  return STEER_MODES.indexOf(mode);
}
