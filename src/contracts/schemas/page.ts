import type { STEER_MODES } from '../constants/steer-modes.js';
import type { Conversation } from './conversation.js';
import type { Message } from './message.js';

/** Argument of a query that answers in pages. */
export interface PageRequest {
  /** Index of the first entry. */
  readonly from: number;
  /** Index after the last entry. @default the end */
  readonly to?: number;
  /** Size of the page in bytes, at most 192 KiB. @default 128 KiB */
  readonly bytesMax?: number;
  /**
   * An entry that is larger than a page comes in parts: where its part begins, 0 for the first one. Query `transcript` sends such an
   * entry whole when `offset` is absent.
   */
  readonly offset?: number;
}

/** A part of the JSON text of one entry. The parts of an entry, joined in order, are its JSON. Positions are UTF-16 units. */
export interface PagePart {
  /** Position at which the part begins. */
  readonly offset: number;
  /** `offset` of the next part; `length` after the last one. */
  readonly next: number;
  /** Length of the whole JSON text. */
  readonly length: number;
  /** The part. */
  readonly text: string;
}

/** One page of entries, or one part of an entry that is larger than a page. */
export interface Page<Entry> {
  /** Index of the first entry of the page. */
  readonly from: number;
  /** Index of the first entry after the page. It stays at `from` until the last part of a large entry. */
  readonly next: number;
  readonly entries: readonly Entry[];
  /** A part of the entry at `from`. `entries` is empty then. */
  readonly part?: PagePart;
}

/** Result of query `transcript`: one page of messages. */
export interface TranscriptPage {
  /** Index of the first message of the page. */
  readonly from: number;
  /** Index of the first message after the page. */
  readonly next: number;
  /** Number of messages of the run's own transcript. */
  readonly length: number;
  /** Digest of the whole transcript, the inherited conversation included. */
  readonly digest: string;
  /** Only for a run of a session: the conversation before its own messages, which are in the transcripts of earlier runs. */
  readonly inherits?: Conversation;
  /** Messages of the page. */
  readonly messages: readonly Message[];
  /** Part of a message that is larger than a page, when the request has an `offset`. `messages` is empty then. */
  readonly part?: PagePart;
}

/** A message to a run that was accepted and not delivered. */
export interface UnreadMessage {
  /** Id of the message. */
  readonly id: string;
  /** Text of the message, whole. */
  readonly text: string;
  /** When it is to be delivered. @default `boundary` */
  readonly mode?: (typeof STEER_MODES)[number];
}

/** Result of query `unread`: one page of unread messages, in the order in which they were accepted. */
export interface UnreadPage {
  /** Index of the first message of the page. */
  readonly from: number;
  /** Index of the first message after the page. */
  readonly next: number;
  /** Number of all unread messages. */
  readonly length: number;
  /** Messages of the page. */
  readonly messages: readonly UnreadMessage[];
  /** Part of a message that is larger than a page. `messages` is empty then. */
  readonly part?: PagePart;
}
