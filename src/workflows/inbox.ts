import { uuid4 } from '@temporalio/workflow';
import type { CarriedState } from '../contracts/carried-state.js';
import { CONTINUE_AS_NEW_LIMITS, PAYLOAD_LIMITS } from '../contracts/limits.js';
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
  readonly #queue: QueuedMessage[];
  readonly #seenIds: Set<string>;
  #accepted: number;
  cancelRequest: CancelRequest | undefined;
  paused: boolean;
  signals = 0;
  updates = 0;

  constructor(carried?: Pick<CarriedState, 'inbox' | 'seenIds' | 'paused' | 'counters'>) {
    this.#queue = [...(carried?.inbox ?? [])];
    this.#seenIds = new Set(carried?.seenIds);
    this.#accepted = carried?.counters.steers ?? 0;
    this.paused = carried?.paused ?? false;
  }

  get length(): number {
    return this.#queue.length;
  }

  /** How many messages were ever accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Queues a message unless its id was seen. A message without text or above the size limit is not accepted. */
  enqueue(input: unknown): Receipt {
    const message = readSteer(input);
    const id = message?.id ?? uuid4();
    if (!message) return { id, accepted: false, position: -1, duplicate: false };
    if (this.#seenIds.has(id)) return { id, accepted: true, position: this.#positionOf(id), duplicate: true };
    this.#remember(id);
    this.#queue.push({ id, text: message.text });
    this.#accepted += 1;
    return { id, accepted: true, position: this.#queue.length - 1, duplicate: false };
  }

  /** Takes everything that waits, in the order acknowledged. */
  drain(): QueuedMessage[] {
    return this.#queue.splice(0);
  }

  /** What still waits, without taking it. */
  peek(): readonly QueuedMessage[] {
    return this.#queue;
  }

  requestCancel(request: CancelRequest): void {
    this.cancelRequest ??= request;
  }

  /** What continue-as-new carries. */
  carry(): Pick<CarriedState, 'inbox' | 'seenIds' | 'paused'> {
    return { inbox: [...this.#queue], seenIds: [...this.#seenIds], paused: this.paused };
  }

  #positionOf(id: string): number {
    return this.#queue.findIndex((message) => message.id === id);
  }

  #remember(id: string): void {
    this.#seenIds.add(id);
    if (this.#seenIds.size <= CONTINUE_AS_NEW_LIMITS.seenIdsMax) return;
    const [oldest] = this.#seenIds;
    if (oldest !== undefined) this.#seenIds.delete(oldest);
  }
}

/** The message in a handler's argument, which may come from any client or from the Web UI; undefined when there is none in it. */
export function readSteer(input: unknown): Pick<SteerInput, 'id' | 'text'> | undefined {
  const given = typeof input === 'string' ? { text: input } : input;
  if (given === null || typeof given !== 'object' || !('text' in given) || typeof given.text !== 'string') return undefined;
  const text = cleanText(given.text);
  if (text.trim() === '' || new TextEncoder().encode(text).length > PAYLOAD_LIMITS.messageBytesMax) return undefined;
  const id = 'id' in given && typeof given.id === 'string' && given.id !== '' ? given.id.slice(0, 200) : undefined;
  return id === undefined ? { text } : { id, text };
}
