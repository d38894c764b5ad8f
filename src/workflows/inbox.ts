import { uuid4 } from '@temporalio/workflow';
import type { CarriedState } from '../contracts/carried-state.js';
import { CLIENT_LIMITS, CONTINUE_AS_NEW_LIMITS, PAYLOAD_LIMITS } from '../contracts/limits.js';
import { cleanText } from '../contracts/message.js';
import type { Receipt, SteerInput } from '../contracts/run.js';

/** A message waiting to be read by the model. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
}

/** Who asked for the end, and why. */
export interface CancelRequest {
  readonly source: 'signal' | 'temporal';
  readonly reason: string;
}

/**
 * What handlers write and the loop reads: the only state that handlers touch. Nothing here awaits.
 */
export class Inbox {
  readonly #queue: Map<string, QueuedMessage>;
  /** Ids of messages that were delivered, oldest first. */
  readonly #seenIds: Set<string>;
  #accepted: number;
  cancelRequest: CancelRequest | undefined;
  paused: boolean;
  signals = 0;
  updates = 0;

  constructor(
    carried?: Pick<CarriedState, 'inbox' | 'seenIds' | 'paused'> & { readonly counters: Pick<CarriedState['counters'], 'steers'> },
  ) {
    this.#queue = new Map(carried?.inbox.map((message) => [message.id, message]));
    this.#seenIds = new Set(carried?.seenIds);
    this.#accepted = carried?.counters.steers ?? 0;
    this.paused = carried?.paused ?? false;
  }

  get length(): number {
    return this.#queue.size;
  }

  /** How many messages were ever accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Queues a message unless its id was seen. What `readSteer` finds no message in is not accepted. */
  enqueue(input: unknown): Receipt {
    const reading = readSteer(input);
    if ('problem' in reading) return { id: '', accepted: false, position: -1, duplicate: false };
    const { id = uuid4(), text } = reading;
    if (this.#queue.has(id) || this.#seenIds.has(id)) return { id, accepted: true, position: this.#positionOf(id), duplicate: true };
    this.#queue.set(id, { id, text });
    this.#accepted += 1;
    return { id, accepted: true, position: this.#queue.size - 1, duplicate: false };
  }

  /** Takes everything that waits, in the order acknowledged. */
  drain(): readonly QueuedMessage[] {
    const taken = this.peek();
    this.#queue.clear();
    for (const { id } of taken) this.#remember(id);
    return taken;
  }

  /** What still waits, without taking it. */
  peek(): readonly QueuedMessage[] {
    return [...this.#queue.values()];
  }

  requestCancel(request: CancelRequest): void {
    this.cancelRequest ??= request;
  }

  /** What continue-as-new carries. */
  carry(): Pick<CarriedState, 'inbox' | 'seenIds' | 'paused' | 'steers'> {
    return { inbox: [...this.#queue.values()], seenIds: [...this.#seenIds], paused: this.paused, steers: [] };
  }

  #positionOf(id: string): number {
    return [...this.#queue.keys()].indexOf(id);
  }

  #remember(id: string): void {
    this.#seenIds.add(id);
    if (this.#seenIds.size <= CONTINUE_AS_NEW_LIMITS.seenIdsMax) return;
    const [oldest] = this.#seenIds;
    if (oldest !== undefined) this.#seenIds.delete(oldest);
  }
}

/**
 * The message in a handler's argument, which may come from any client or from the Web UI, or why there is none in it. An id is
 * optional. Never throws.
 */
export function readSteer(input: unknown): Pick<SteerInput, 'id' | 'text'> | { readonly problem: string } {
  const given = typeof input === 'string' ? { text: input } : input;
  if (given === null || typeof given !== 'object' || !('text' in given) || typeof given.text !== 'string') return { problem: NO_TEXT };
  const text = cleanText(given.text);
  if (text.trim() === '') return { problem: NO_TEXT };
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > PAYLOAD_LIMITS.messageBytesMax) {
    return { problem: `MESSAGE_TOO_LARGE: limit ${PAYLOAD_LIMITS.messageBytesMax} bytes, got ${bytes}` };
  }
  const id = 'id' in given && typeof given.id === 'string' && given.id !== '' ? given.id.slice(0, CLIENT_LIMITS.idCharsMax) : undefined;
  return id === undefined ? { text } : { id, text };
}

const NO_TEXT = 'EMPTY_MESSAGE: message has no text; send {"text": "…"}';
