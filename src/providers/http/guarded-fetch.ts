import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type Response as UndiciResponse, fetch as undiciFetch } from 'undici';
import { MIB } from '../../contracts/constants/units.js';
import { objectOf } from '../contract/json-object.js';
import { ModelError } from '../contract/model-error.js';
import { connectionError, errorIn, toModelError } from '../errors/classify-error.js';
import { hideKey } from '../errors/redact-key.js';
import { EventFraming } from './event-framing.js';
import { answerHeaders, contentTypesOf } from './response-headers.js';
import { type Patience, StreamWatchdog } from './stream-watchdog.js';

/** Many times the largest answer with its framing: more is a server gone mad. */
const STREAM_BYTES_MAX = 64 * MIB;
/** Several times the largest answer: no event needs more. */
const EVENT_BYTES_MAX = 8 * MIB;
/** The reason of a refusal stands at its beginning, and is told at once. */
const REFUSAL_BYTES_MAX = 64 * 1_024;
const REFUSAL_MS_MAX = 10_000;
/** Once the answer is complete, what may still come is not waited for any longer. */
const END_GRACE_MS = 5_000;

/** Two ends of a line, each of two characters. */
const BLANK_LINE_BYTES_MAX = 4;
const BLANK_LINE = new TextEncoder().encode('\n\n');

/** Its own timers for headers and body are off: silence is judged at one place, by the watchdog. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });

const OWN_HEADERS = { 'content-type': 'application/json', accept: 'text/event-stream', 'user-agent': 'perdure' };

/** What one request is held to. Silence is `Model.StreamIdle`; before the first byte, where that has its own limit, `Model.Timeout`. */
export interface GuardOptions extends Patience {
  /**
   * Sent beside the content type. The headers of an SDK are not: `*_CUSTOM_HEADERS` of the environment adds to them. Absent: the SDK's own
   * are sent, for requests that it signs.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Kept out of errors. */
  readonly apiKey: string;
  /** `bytes`: anything but a web page is an answer, and passed on as it comes, for SDKs with framings of their own. @default events */
  readonly stream?: 'events' | 'bytes';
  /** Watches more than the bytes of this request. @default one of its own */
  readonly watchdog?: StreamWatchdog;
}

/** One request's guard: the fetch for an SDK, and what stopped it. */
export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Why the request failed, whatever an SDK made of it. After a caller's abort it says nothing of use: look at the signal first. */
  failure(): ModelError | undefined;
  /** True when the body ended before the blank line that ends its last event. */
  endedWithinEvent(): boolean;
  /** The answer is complete: from here on only its end is waited for, and not for long. */
  expectEnd(): void;
  /** Stops the watch; call it when the answer is read. */
  release(): void;
}

/**
 * Makes the fetch of one model request. It refuses redirects (an SDK would post the prompt to the other host) and answers that are no
 * event stream, sends only its own headers, ends silence, bounds sizes, and closes a last event that lacks its blank line.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const guard = new Guard(options);
  return {
    fetch: (input, init) => guard.fetch(input, init ?? {}),
    failure: () => guard.watchdog.failure ?? guard.failure,
    endedWithinEvent: () => guard.endedWithinEvent,
    expectEnd: () => guard.watchdog.shortenTo(END_GRACE_MS),
    release: () => guard.watchdog.stop(),
  };
}

class Guard {
  readonly #headers: Readonly<Record<string, string>> | undefined;
  readonly #refusalMsMax: number;
  readonly watchdog: StreamWatchdog;
  readonly #apiKey: string;
  readonly #stream: 'events' | 'bytes';
  failure: ModelError | undefined;
  endedWithinEvent = false;

  constructor({ headers, apiKey, stream = 'events', watchdog, ...patience }: GuardOptions) {
    this.#apiKey = apiKey;
    this.#stream = stream;
    this.#headers = headers && { ...OWN_HEADERS, ...headers };
    this.#refusalMsMax = Math.min(patience.idleMs, REFUSAL_MS_MAX);
    this.watchdog = watchdog ?? new StreamWatchdog(patience);
  }

  async fetch(input: string | URL | Request, init: RequestInit): Promise<Response> {
    const signals = [this.watchdog.signal, init.signal].filter((signal) => signal != null);
    this.watchdog.start();
    try {
      const response = await undiciFetch(input instanceof Request ? input.url : input, {
        method: init.method ?? 'POST',
        headers: this.#headers ?? [...new Headers(init.headers)],
        // the SDKs send JSON text
        body: typeof init.body === 'string' ? init.body : null,
        signal: AbortSignal.any(signals),
        redirect: 'manual',
        dispatcher,
      });
      this.watchdog.sawHeaders();
      return await this.#accept(response, init.signal);
    } catch (error) {
      this.failure ??= connectionError(error);
      throw error;
    }
  }

  async #accept(response: UndiciResponse, caller: AbortSignal | null | undefined): Promise<Response> {
    const { status, headers, body } = response;
    if (status >= 300 && status < 400) throw await refuseRedirect(response);
    if (!response.ok) return copyOf(response, body && refusalBody(await this.#refusalText(body, caller)));
    const types = contentTypesOf(headers);
    const isPage = types.some((type) => type.includes('text/html'));
    const isStream = !isPage && (this.#stream === 'bytes' || types[0]?.includes('text/event-stream'));
    if (!body || !isStream) throw notAStream(response, body ? await textOf(this.#head(body)) : '', this.#apiKey);
    const watched = this.#watched(body, caller);
    return copyOf(response, this.#stream === 'bytes' ? this.#unframed(watched) : this.#framed(watched));
  }

  /** Passes the events of an answer on. */
  async *#framed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const framing = new EventFraming();
    for await (const chunk of body) {
      const events = framing.add(chunk);
      if (framing.waitingBytes > EVENT_BYTES_MAX) throw this.#tooLarge(framing.totalBytes);
      if (events) yield events;
    }
    yield framing.rest();
    // openai drops a last event without its blank line; half an event is no JSON, so closing it can not make one up
    this.endedWithinEvent = framing.endsWithinEvent;
    if (this.endedWithinEvent) yield BLANK_LINE;
  }

  /** Passes bytes on as they come, and minds only whether the last of them are a blank line. */
  async *#unframed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let end = Buffer.alloc(0);
    for await (const chunk of body) {
      end = Buffer.concat([end, chunk.subarray(-BLANK_LINE_BYTES_MAX)]).subarray(-BLANK_LINE_BYTES_MAX);
      yield chunk;
    }
    this.endedWithinEvent = end.length > 0 && !/(?:\r\n|\n|\r){2}$/u.test(end.toString('latin1'));
  }

  /** Passes an answer's bytes on. An SDK aborts a body that it does not want to read on: that is no failure of the body. */
  async *#watched(body: AsyncIterable<Uint8Array>, caller: AbortSignal | null | undefined): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      for await (const chunk of body) {
        this.watchdog.sawBytes();
        bytes += chunk.length;
        if (bytes > STREAM_BYTES_MAX) throw this.#tooLarge(bytes);
        yield chunk;
      }
    } catch (error) {
      if (!caller?.aborted) this.failure ??= toModelError(error);
      throw error;
    }
  }

  #tooLarge(bytes: number): ModelError {
    this.failure ??= new ModelError('Model.BadResponse', `the response is too large: more than ${bytes} bytes`);
    return this.failure;
  }

  /** What a refusal says, as far as it came: its status stands whatever becomes of its body. */
  async #refusalText(body: AsyncIterable<Uint8Array>, caller: AbortSignal | null | undefined): Promise<string> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of this.#head(body)) chunks.push(chunk);
    } catch (error) {
      if (caller?.aborted || this.watchdog.failure) throw error;
    }
    return Buffer.concat(chunks).toString();
  }

  /** Passes the beginning of a body on that is no answer; one that trickles is left after a while. */
  async *#head(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const endsAt = Date.now() + this.#refusalMsMax;
    let bytes = 0;
    for await (const chunk of body) {
      this.watchdog.sawBytes();
      bytes += chunk.length;
      yield chunk;
      if (bytes > REFUSAL_BYTES_MAX || Date.now() > endsAt) return;
    }
  }
}

/** The SDKs know the platform's own Response only, not that of the undici package. */
function copyOf({ status, statusText, headers }: UndiciResponse, body: AsyncIterable<Uint8Array> | string | null): Response {
  return new Response(body === null || typeof body === 'string' ? body : ReadableStream.from(body), {
    status,
    statusText,
    headers: answerHeaders(headers),
  });
}

/** The SDKs read only what stands under `error`; some servers send the same without it, Gemini's within a list of one. */
function refusalBody(text: string): string {
  const listed = objectOf(text);
  // as text: a body may be nested too deep to be written anew
  const body = Array.isArray(listed) && listed.length === 1 ? text.trim().slice(1, -1) : text;
  const parsed = objectOf(body);
  return parsed && !('error' in parsed) ? `{"error":${body}}` : body;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return await new Response(ReadableStream.from(body)).text();
}

async function refuseRedirect({ status, headers, body, url }: UndiciResponse): Promise<ModelError> {
  await body?.cancel();
  const location = headers.get('location') ?? '';
  const to = URL.canParse(location, url) ? new URL(location, url).host : 'an unknown host';
  const message = `MODEL_REDIRECT_REFUSED: ${new URL(url).host} redirects the request to ${to}. Set baseUrl to the right address.`;
  return new ModelError('Model.BadRequest', message, { status });
}

/** Status 200, but a web page or a document: the SDKs would end their stream without any event and without an error. */
function notAStream({ headers }: UndiciResponse, head: string, apiKey: string): ModelError {
  if (head.trim() === '') return new ModelError('Model.EmptyStream', 'the server returned an empty response', { status: 200 });
  const parsed = errorIn(head);
  if (parsed) return toModelError({ error: parsed, headers: new Headers([...headers]) }, apiKey);
  const types = contentTypesOf(headers);
  const type = hideKey(types.find((each) => each.includes('text/html')) ?? types[0] ?? 'no content type', apiKey);
  const message = `the server returned ${type} instead of an event stream`;
  return new ModelError('Model.BadResponse', message, { status: 200 });
}

const guards = new AsyncLocalStorage<GuardedFetch>();

/** Makes a call whose requests go through its guard, by a client that was made with `fetchOfCall`. */
export function guardedCall<Result>(guard: GuardedFetch, call: () => Result): Result {
  return guards.run(guard, call);
}

/** The fetch for clients that are made once and serve many calls: each request finds the guard of its own call. */
export const fetchOfCall: typeof fetch = (input, init) => (guards.getStore()?.fetch ?? fetch)(input, init);
