import type { TailItem, TranscriptRef } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type ChainHead, EMPTY_CHAIN, extendChain, hashMessage } from '../../contracts/digest.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { TranscriptPage } from '../../contracts/schemas/run.js';
import { estimateTokens } from '../../contracts/text/estimate-tokens.js';

interface Entry {
  readonly message: Message;
  readonly hash: string;
}

/**
 * The messages of a run and the chained digest over them. The workflow keeps them once; activities get references.
 */
export class Transcript {
  readonly #entries: Entry[] = [];
  #head: ChainHead = EMPTY_CHAIN;
  #base: ChainHead = EMPTY_CHAIN;
  #tail: TailItem[] = [];
  #tailBytes = 0;
  #bytes = 0;
  #tokens = 0;

  /** Where the transcript stands. */
  get head(): ChainHead {
    return this.#head;
  }

  /** Size of all messages as JSON text, in UTF-16 units: a cheap estimate. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Estimated tokens of all messages, counted as they come. */
  get tokens(): number {
    return this.#tokens;
  }

  /** How many messages there are. */
  get length(): number {
    return this.#entries.length;
  }

  get messages(): readonly Message[] {
    return this.#entries.map((entry) => entry.message);
  }

  /** Adds a message that the workflow wrote: it travels whole in the next reference, unless that grows too large. */
  append(message: Message): void {
    this.#tailBytes += this.#add({ message, hash: hashMessage(message) });
    this.#tail.push({ message });
    if (this.#tailBytes > PAYLOAD_LIMITS.tailBytesMax) this.startFresh();
  }

  /** Adds a message that an activity returned: its worker has it cached, so only the hash travels. */
  appendReturned(message: Message, hash: string): void {
    this.#add({ message, hash });
    this.#tail.push({ hash });
  }

  /** Takes over messages that no worker was told of yet. They are read through the query, so their size is in no activity's input. */
  load(messages: readonly Message[]): void {
    for (const message of messages) this.#add({ message, hash: hashMessage(message) });
    this.startFresh();
  }

  /**
   * Puts shorter messages in the place of all: a new chain, which workers read through the query. `returned` holds the hashes of
   * messages that an activity made.
   */
  replaceAll(messages: readonly Message[], returned: ReadonlyMap<Message, string> = new Map()): void {
    const known = new Map(this.#entries.map(({ message, hash }) => [message, hash]));
    this.#entries.length = 0;
    this.#head = EMPTY_CHAIN;
    this.#bytes = 0;
    this.#tokens = 0;
    for (const message of messages) this.#add({ message, hash: known.get(message) ?? returned.get(message) ?? hashMessage(message) });
    this.startFresh();
  }

  /** The reference for the next model call. */
  reference(): Pick<TranscriptRef, 'base' | 'tail' | 'digest'> {
    return { base: this.#base, tail: this.#tail, digest: this.#head.digest };
  }

  /** A model call was answered: the next reference starts where that call's transcript ended. */
  advance(): void {
    this.#base = this.#head;
    this.#tail = [];
    this.#tailBytes = 0;
  }

  /** A reference that presumes nothing: all of it is the base, and a worker pages for what it lacks. */
  startFresh(): void {
    this.advance();
  }

  /** One page for query `transcript`, bounded in bytes; a single larger message still gets a page of its own. */
  page(request: { from: number; to?: number; bytesMax?: number }): TranscriptPage {
    const from = Math.max(0, Math.trunc(request.from) || 0);
    const to = Math.min(request.to ?? this.#entries.length, this.#entries.length);
    // from whatever client it comes: what is no number asks for nothing special
    const asked = Number.isFinite(request.bytesMax) ? Number(request.bytesMax) : PAYLOAD_LIMITS.pageBytesDefault;
    const bytesMax = Math.min(asked, PAYLOAD_LIMITS.outsideBytesMax);
    const messages: Message[] = [];
    let bytes = 0;
    for (const entry of this.#entries.slice(from, to)) {
      bytes += utf8Bytes(entry.message);
      if (messages.length > 0 && bytes > bytesMax) break;
      messages.push(entry.message);
    }
    return { from, next: from + messages.length, length: this.#head.length, digest: this.#head.digest, messages };
  }

  /** What continue-as-new carries. */
  carry(): Pick<CarriedState, 'transcript' | 'chain'> {
    return { transcript: this.#entries, chain: this.#head };
  }

  /** Rebuilds a transcript from what was carried. */
  static from(carried: Pick<CarriedState, 'transcript'>): Transcript {
    const transcript = new Transcript();
    for (const entry of carried.transcript) transcript.#add(entry);
    transcript.startFresh();
    return transcript;
  }

  /** Returns the size of the message, counted as `bytes` is. */
  #add(entry: Entry): number {
    const size = JSON.stringify(entry.message).length;
    this.#entries.push(entry);
    this.#head = extendChain(this.#head, entry.hash);
    this.#bytes += size;
    this.#tokens += estimateTokens([entry.message]);
    return size;
  }
}

function utf8Bytes(message: Message): number {
  return new TextEncoder().encode(JSON.stringify(message)).length;
}
