import type { TailItem, TranscriptRef } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type ChainHead, EMPTY_CHAIN, extendChain, hashMessage } from '../../contracts/digest.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Conversation } from '../../contracts/schemas/conversation.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { PageRequest, TranscriptPage } from '../../contracts/schemas/page.js';
import { estimateTokens } from '../../contracts/text/estimate-tokens.js';
import { pageOf } from '../policies/transcript/page.js';

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
  #inherits: Conversation | undefined;

  /** The conversation that the transcript begins with, by reference. */
  get inherits(): Conversation | undefined {
    return this.#inherits;
  }

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

  /** The number of messages that the workflow keeps. */
  get length(): number {
    return this.#entries.length;
  }

  /** The messages that the workflow keeps: without those of the inherited conversation. */
  get messages(): readonly Message[] {
    return this.#entries.map((entry) => entry.message);
  }

  /** The messages from the last one with this id on; the last message if there is none. */
  since(messageId: string): readonly Message[] {
    const { messages } = this;
    return messages.slice(messages.findLastIndex(({ id }) => id === messageId));
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

  /**
   * Begins the transcript with a conversation whose messages are in the transcripts of earlier runs. Call it before any message is added.
   */
  inherit(conversation: Conversation): void {
    this.#inherits = conversation;
    this.#reset();
    this.startFresh();
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
    this.#reset();
    for (const message of messages) this.#add({ message, hash: known.get(message) ?? returned.get(message) ?? hashMessage(message) });
    this.startFresh();
  }

  /** Replaces the inherited conversation by messages that the workflow keeps, before its own ones. `returned`: as for `replaceAll`. */
  replaceInherited(messages: readonly Message[], returned: ReadonlyMap<Message, string>): void {
    this.#inherits = undefined;
    this.replaceAll([...messages, ...this.messages], returned);
  }

  /** The reference for the next activity. */
  reference(): Pick<TranscriptRef, 'base' | 'tail' | 'digest' | 'inherits'> {
    const inherits = this.#inherits ? { inherits: this.#inherits } : {};
    return { base: this.#base, tail: this.#tail, digest: this.#head.digest, ...inherits };
  }

  /** The whole transcript by reference, for the next run of a session. */
  conversation(runId: string, executionId: string, endedAt: number): Conversation {
    const { runs = 0, since = endedAt } = this.#inherits ?? {};
    return { runId, executionId, ...this.#head, bytes: this.#bytes, tokens: this.#tokens, runs: runs + 1, since };
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
    const inherits = this.#inherits ? { inherits: this.#inherits } : {};
    return { ...page, length: this.length, digest: this.#head.digest, ...inherits, messages };
  }

  /** The state that continue-as-new carries over. */
  carry(): Pick<CarriedState, 'transcript' | 'chain' | 'inherits'> {
    return { transcript: this.#entries, chain: this.#head, ...(this.#inherits ? { inherits: this.#inherits } : {}) };
  }

  /** Rebuilds a transcript from the carried state. */
  static from(carried: Pick<CarriedState, 'transcript' | 'inherits'>): Transcript {
    const transcript = new Transcript();
    if (carried.inherits) transcript.inherit(carried.inherits);
    for (const entry of carried.transcript) transcript.#add(entry);
    transcript.startFresh();
    return transcript;
  }

  /** Removes all messages but the inherited ones. */
  #reset(): void {
    const { length = 0, digest = '', bytes = 0, tokens = 0 } = this.#inherits ?? {};
    this.#entries.length = 0;
    this.#head = { length, digest };
    this.#bytes = bytes;
    this.#tokens = tokens;
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
