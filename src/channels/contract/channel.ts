/**
 * A chat platform: where the answers of sessions are sent.
 *
 * Contract: the methods may run in parallel for different conversations, never for the same one. They reject with a `ChannelError`, which
 * says whether the request may be repeated; any other error counts as `uncertain`. They do not repeat a request themselves: the bridge does.
 * They stop soon after the signal aborts. A text is Markdown, and may contain anything that a model wrote: a channel prevents that it
 * notifies people or executes. No error contains a key. `testChannel` of `perdure/testing` checks all of this.
 */
export interface Channel {
  readonly abilities: ChannelAbilities;

  /** Sends a message, and returns its id on the platform. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage>;

  /** Replaces the text of a message. May be called again with the same text. @default answers are sent only when they are complete */
  edit?(message: EditedMessage, signal: AbortSignal): Promise<void>;

  /** Shows for a few seconds that an answer is being written. Errors are ignored. @default nothing is shown */
  typing?(conversation: string, signal: AbortSignal): Promise<void>;

  /** Finds a message by its key. Only for `deduplicates: "by-search"`. */
  find?(message: SearchedMessage, signal: AbortSignal): Promise<SentMessage | undefined>;
}

/** What a platform can do. */
export interface ChannelAbilities {
  /**
   * How a message is sent once, although the process may be killed between a send and its record.
   * `by-key`: the platform drops a second message with the same key, and returns the id of the first one.
   * `by-search`: `find` shows whether the first one arrived.
   * `never`: the message is sent again. People may see it twice, and the bridge reports `MAY_REPEAT`.
   */
  readonly deduplicates: 'by-key' | 'by-search' | 'never';
  /** Longest text of a message, in characters. */
  readonly textCharsMax: number;
}

/** A message for the platform. */
export interface OutgoingMessage {
  /** Idempotency key: 32 hexadecimal digits, the same each time this message is sent. */
  readonly key: string;
  /** Where it is sent, as the incoming messages name it. */
  readonly conversation: string;
  readonly text: string;
  /** Id of the incoming message that it replies to. @default none in particular */
  readonly replyTo?: string;
}

/** A message that may have been sent. */
export interface SearchedMessage extends Omit<OutgoingMessage, 'text'> {
  /** Time of its first attempt, in milliseconds since 1970: it is not older. The clock of the platform may differ. @default unknown */
  readonly since?: number;
}

/** A message that the platform has. */
export interface SentMessage {
  readonly id: string;
}

/** A new text for a message that was sent. */
export interface EditedMessage {
  readonly conversation: string;
  readonly id: string;
  readonly text: string;
}

/** A message of a person. */
export interface IncomingMessage {
  /** The platform's id of the message: `A-Z a-z 0-9 . _ : -`, at most 200 characters. The same id twice is one message. */
  readonly id: string;
  /** The conversation: one session each. The same characters. */
  readonly conversation: string;
  readonly text: string;
}
