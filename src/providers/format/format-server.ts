import type { IncomingHttpHeaders } from 'node:http';
import type { EventKind } from '../scripted/script-fault.js';
import type { ScriptedAnswer, ScriptedRequest } from '../scripted/script-player.js';
import type { ChatTemplate } from '../templates/chat-template.js';

/** One event of a stream, ready to be sent. */
export interface WireEvent {
  readonly kind: EventKind;
  readonly text: string;
}

/** A checked request: what the script sees of it, and how the answer is to be sent. */
export interface WireQuestion {
  readonly view: ScriptedRequest;
  readonly model: string;
  readonly stream: boolean;
  /** The stream is to report usage. */
  readonly streamUsage: boolean;
  /** Thinking is to come encrypted beside its text; the Responses API only. */
  readonly encrypted?: boolean;
  /** What the answer's thinking is bound to; Anthropic's newer models only. */
  readonly prefix?: string;
  /** In whose words the prompt is written, and the answer; completions only. */
  readonly template?: ChatTemplate['name'];
  /** Fields of the request that its answer repeats; the Responses API only. */
  readonly repeated?: Readonly<Record<string, unknown>>;
}

/** An error that is told within a stream. */
export interface StreamError {
  readonly type: string;
  readonly message: string;
  /** How many events came before it. */
  readonly eventsBefore: number;
}

/** What an answer is sent with. */
export interface WireAnswer {
  readonly id: string;
  readonly question: WireQuestion;
  readonly answer: ScriptedAnswer;
}

/**
 * A wire format of models, as the wire server speaks it.
 *
 * Contract: `check` throws a WireRefusal for every request the provider's own API would refuse; nothing else throws. All are pure.
 */
export interface WireFormat {
  readonly name: 'openai-chat' | 'openai-completions' | 'openai-responses' | 'anthropic';
  readonly path: string;
  readonly requestIdHeader: string;
  /** An event that says nothing, only that the connection lives. */
  readonly ping: string;
  /** What the API says of a prompt that is too long. */
  readonly overflowMessage: string;
  keyIn(headers: IncomingHttpHeaders): string | undefined;
  refuseKey(key: string | undefined): WireRefusal;
  check(body: unknown, headers: IncomingHttpHeaders): WireQuestion;
  errorBody(refusal: WireRefusal, requestId: string): unknown;
  errorEvent(error: StreamError): string;
  events(answer: WireAnswer): WireEvent[];
  document(answer: WireAnswer): unknown;
}

/** What a refusal says beside its message, as far as a wire format has a place for it. */
export interface WireRefusalDetails {
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
  /** Sent as the Retry-After header. */
  readonly retryAfter?: string;
}

/** Thrown within the wire server: this request is answered with an error, in the words of the provider's own API. */
export class WireRefusal extends Error {
  override readonly name = 'WireRefusal';
  readonly status: number;
  readonly details: WireRefusalDetails;

  constructor(status: number, message: string, details: WireRefusalDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
