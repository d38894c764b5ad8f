import type { TailItem, TranscriptRef } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type ChainHead, EMPTY_CHAIN, extendChain, hashMessage } from '../../contracts/digest.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { PageRequest, TranscriptPage } from '../../contracts/schemas/page.js';

import { estimateTokens } from '../../contracts/text/estimate-tokens.js';
import { pageOf } from './page.js';

interface Entry {
  readonly message: Message;
  readonly hash: string;
}

/**
 * The messages of a run, and the chained digest over them. The workflow keeps the messages; activities get references.
 */
export class Transcript {
  readonly #entries: Entry[] = [];
  #head: ChainHead = EMPTY_CHAIN;
  #base: ChainHead = EMPTY_CHAIN;
  #tail: TailItem[] = [];
  #tailBytes = 0;
  #bytes = 0;
  #tokens = 0;

  /** The length and the digest of the transcript. */
  get head(): ChainHead {
    return this.#head;
  }

  /** The size of all messages as JSON text, in UTF-16 units: a cheap estimate of bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Estimated tokens of all messages. */
  get tokens(): number {
    return this.#tokens;
  }

  /** The number of messages. */
  get length(): number {
    return this.#entries.length;
  }

  get messages(): readonly Message[] {
    return this.#entries.map((entry) => entry.message);
  }

  /** Adds a message that the workflow made. The next reference contains it whole, unless that makes the reference too large. */
  append(message: Message): void {
    this.#tailBytes += this.#add({ message, hash: hashMessage(message) });
    this.#tail.push({ message });
    if (this.#tailBytes > PAYLOAD_LIMITS.tailBytesMax) this.startFresh();
  }

  /** Adds a message that an activity returned. Its worker has it cached, so the reference contains only the hash. */
  appendReturned(message: Message, hash: string): void {
    this.#add({ message, hash });
    this.#tail.push({ hash });
  }

  /** Adds the input's messages. Workers read them through query `transcript`, so that they do not enlarge activity inputs. */
  load(messages: readonly Message[]): void {
    for (const message of messages) this.#add({ message, hash: hashMessage(message) });
    this.startFresh();
  }

  /**
   * Replaces all messages: a new chain, which workers read through query `transcript`. `returned`: the hashes of messages that an
   * activity made.
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

  /** The reference for the next activity. */
  reference(): Pick<TranscriptRef, 'base' | 'tail' | 'digest'> {
    return { base: this.#base, tail: this.#tail, digest: this.#head.digest };
  }

  /** Moves the base of references to the end, after an answer: the worker has the transcript up to here cached. */
  advance(): void {
    this.#base = this.#head;
    this.#tail = [];
    this.#tailBytes = 0;
  }

  /** Makes the next reference assume no cache: the whole transcript is its base, and a worker queries the pages that it lacks. */
  startFresh(): void {
    this.advance();
  }

  /** One page for query `transcript`, limited in bytes. A larger single message gets its own page, or several for its parts. */
  page(request: PageRequest): TranscriptPage {
    const { entries: messages, ...page } = pageOf(this.messages, request);
    return { ...page, length: this.#head.length, digest: this.#head.digest, messages };
  }

  /** The state that continue-as-new carries over. */
  carry(): Pick<CarriedState, 'transcript' | 'chain'> {
    return { transcript: this.#entries, chain: this.#head };
  }

  /** Rebuilds a transcript from the carried state. */
  static from(carried: Pick<CarriedState, 'transcript'>): Transcript {
    const transcript = new Transcript();
    for (const entry of carried.transcript) transcript.#add(entry);
    transcript.startFresh();
    return transcript;
  }

  /** Adds an entry and returns its size, in the unit of `bytes`. */
  #add(entry: Entry): number {
    const size = JSON.stringify(entry.message).length;
    this.#entries.push(entry);
    this.#head = extendChain(this.#head, entry.hash);
    this.#bytes += size;
    this.#tokens += estimateTokens([entry.message]);
    return size;
  }
}
