import type { ChainHead } from '../../contracts/digest.js';
import { EMPTY_CHAIN } from '../../contracts/digest.js';
import type { Message } from '../../contracts/schemas/message.js';
import { extendChain } from './message-hash.js';

interface Node {
  readonly previous: ChainHead;
  readonly message: Message;
  readonly hash: string;
  readonly bytes: number;
}

/** The maximum of runs whose newest head is cached, at a few hundred bytes each. */
const HEADS_MAX = 2_000;

/**
 * A worker's cache of transcripts, keyed by hash and never by position, limited in bytes. It evicts the least recently used entry first. A
 * lost entry costs only a query.
 */
export class TranscriptCache {
  readonly #bytesMax: number;
  readonly #messages = new Map<string, { message: Message; bytes: number }>();
  readonly #nodes = new Map<string, Node>();
  readonly #heads = new Map<string, ChainHead>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Caches a message that an activity returned or a page contained. */
  keepMessage(hash: string, message: Message): void {
    this.#drop(this.#messages, hash);
    const bytes = sizeOf(message);
    this.#messages.set(hash, { message, bytes });
    this.#bytes += bytes;
    this.#evict();
  }

  message(hash: string): Message | undefined {
    const entry = this.#messages.get(hash);
    if (!entry) return undefined;
    this.#messages.delete(hash);
    this.#messages.set(hash, entry);
    return entry.message;
  }

  /** Caches that `message` follows `previous`, and returns the head after it. */
  keepLink(previous: ChainHead, message: Message, hash: string): ChainHead {
    const head = extendChain(previous, hash);
    this.#drop(this.#nodes, head.digest);
    const bytes = this.#messages.get(hash)?.bytes ?? sizeOf(message);
    this.#nodes.set(head.digest, { previous, message, hash, bytes });
    this.#bytes += bytes;
    this.#evict();
    return head;
  }

  /** Caches the newest known head of a run, so that only later messages must be queried. */
  keepHead(execution: string, head: ChainHead): void {
    this.#heads.delete(execution);
    this.#heads.set(execution, head);
    if (this.#heads.size <= HEADS_MAX) return;
    const [oldest] = this.#heads.keys();
    if (oldest !== undefined) this.#heads.delete(oldest);
  }

  head(execution: string): ChainHead {
    return this.#heads.get(execution) ?? EMPTY_CHAIN;
  }

  /**
   * Walks back from a head through the cached links. Returns the messages, oldest first, and the head before the first cached one (the
   * empty chain when all were cached).
   */
  walkBack(head: ChainHead): { readonly known: Message[]; readonly until: ChainHead } {
    const known: Message[] = [];
    let at = head;
    while (at.length > EMPTY_CHAIN.length) {
      const node = this.#nodes.get(at.digest);
      if (!node) break;
      this.#nodes.delete(at.digest);
      this.#nodes.set(at.digest, node);
      known.push(node.message);
      at = node.previous;
    }
    return { known: known.toReversed(), until: at };
  }

  #evict(): void {
    while (this.#bytes > this.#bytesMax) {
      const [message] = this.#messages.keys();
      const [digest] = this.#nodes.keys();
      if (message !== undefined) this.#drop(this.#messages, message);
      if (digest !== undefined) this.#drop(this.#nodes, digest);
    }
  }

  #drop(map: Map<string, { readonly bytes: number }>, key: string): void {
    this.#bytes -= map.get(key)?.bytes ?? 0;
    map.delete(key);
  }
}

/** The approximate size of an entry: its JSON text in UTF-16, and its keys. */
function sizeOf(message: Message): number {
  return JSON.stringify(message).length * 2 + 256;
}
