import type { ModelError } from './model-error.js';
import type { ModelProvider } from './model-provider.js';

/** One event of an event stream. */
export interface ServerEvent {
  /** Name of the event. @default `message` */
  readonly event: string;
  /** Its data lines, joined. */
  readonly data: string;
}

/** Argument of `create`: the server of a provider, and what a wire format needs to call it. */
export interface ProviderServer {
  /** `baseUrl` of the provider, without a slash at its end. Empty without one. */
  readonly baseUrl: string;
  /**
   * Returns the value of a reference such as `env:ACME_KEY`, or of the first one in `credentials`. Call it for each request, because a key in
   * a file may change. It is kept out of errors. Throws a ModelError `Model.Auth` if the key is missing.
   */
  readonly key: (reference?: string) => string;
  /**
   * A `fetch` for requests inside `call`. It refuses redirects and web pages, bounds the size of answers, and ends a silent server after
   * `idleMs`. Bodies are text.
   */
  readonly fetch: typeof fetch;
  /**
   * The events of a response in the format `text/event-stream`, in order. An event that was cut is left out, so the format must detect a
   * complete answer by its last event.
   */
  readonly events: (response: Response) => AsyncIterable<ServerEvent>;
  /** The failure that a refused response means: by its status, its error message and Retry-After. Never rejects. */
  readonly failure: (response: Response) => Promise<ModelError>;
}

/**
 * A wire format of your own: how a request becomes HTTP, and an HTTP answer a `ModelAnswer`.
 *
 * Contract: `create` is called once for each provider of a worker, before its first request. It opens nothing. The provider keeps the contract of
 * `ModelProvider`. An error that is no ModelError is classified by its status or its socket code, else it is `Model.BadResponse`; a
 * SyntaxError of a stream that ended within an event is `Model.StreamTruncated`.
 */
export interface WireFormatDefinition {
  /** Name, for error messages. */
  readonly name: string;
  /** Creates the provider of one server. */
  readonly create: (server: ProviderServer) => ModelProvider;
}

/** Returns its argument, typed. The definition is validated with the whole config. */
export function defineWireFormat(format: WireFormatDefinition): WireFormatDefinition {
  return format;
}

/** True for a wire format, also of another copy of this package. Never throws. */
export function isWireFormat(value: unknown): value is WireFormatDefinition {
  if (typeof value !== 'object' || value === null) return false;
  const { name, create } = value as Partial<Record<keyof WireFormatDefinition, unknown>>;
  return typeof name === 'string' && name !== '' && typeof create === 'function';
}
