import type { IncomingHttpHeaders } from 'node:http';
import type { HttpApi } from '../../define/provider-definition.js';
import type { EventKind } from '../scripted/script-fault.js';
import type { ScriptedAnswer, ScriptedRequest } from '../scripted/script-player.js';

/** One event of a stream, ready to be sent. */
export interface WireEvent {
  readonly kind: EventKind;
  readonly text: string;
}

/** A checked request: the part that a script sees, and how the answer is to be sent. A format adds fields that only its answers need. */
export interface WireRequest {
  readonly view: ScriptedRequest;
  readonly model: string;
  readonly stream: boolean;
  /** The stream is to report usage. */
  readonly streamUsage: boolean;
}

/** An error event within a stream. */
export interface StreamError {
  readonly type: string;
  readonly message: string;
  /** The number of events before it. */
  readonly eventsBefore: number;
}

/** The answer of a script to a request. */
export interface WireAnswer<Request extends WireRequest = WireRequest> {
  readonly id: string;
  readonly request: Request;
  readonly answer: ScriptedAnswer;
}

/**
 * The server side of a wire format, for tests.
 *
 * Contract: `check` throws a WireRefusal for every request that the provider's own API would refuse; nothing else throws. All functions are
 * pure. Answers hold the requests that the same format checked.
 */
export interface FormatServer<Request extends WireRequest = WireRequest> {
  readonly name: HttpApi;
  readonly path: string;
  /** The content type of a stream. */
  readonly contentType: string;
  readonly requestIdHeader: string;
  /** An event without content that keeps the connection alive. */
  readonly ping: string;
  /** The message of the API for a prompt that is too long. */
  readonly overflowMessage: string;
  /** The text in a stream that ends an answer with two tool calls: before it the answer counts as cut. */
  readonly terminal: string;
  keyIn(headers: IncomingHttpHeaders): string | undefined;
  refuseKey(key: string | undefined): WireRefusal;
  check(body: unknown, headers: IncomingHttpHeaders): Request;
  errorBody(refusal: WireRefusal, requestId: string): unknown;
  errorEvent(error: StreamError): string;
  events(answer: WireAnswer<Request>): WireEvent[];
  document(answer: WireAnswer<Request>): unknown;
}

/** The content type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** The details of a refusal beside its message, as far as a wire format has fields for them. */
export interface WireRefusalDetails {
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
  /** Sent as the Retry-After header. */
  readonly retryAfter?: string;
}

/** Thrown within the wire server: the request is answered with an error, in the format of the provider's own API. */
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
