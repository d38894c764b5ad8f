import { Agent, fetch as undiciFetch } from 'undici';
import { ModelError } from './model-error.js';
import { StreamWatchdog } from './stream-watchdog.js';

/** What one request is held to. */
export interface GuardOptions {
  /** No bytes for this long, before or in the body: `Model.StreamIdle`. */
  readonly idleMs: number;
  /** Headers the request carries for sure: the key, under the provider's name for it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One request's guard: the fetch for an SDK, and what stopped it. */
export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Why our own watch ended the request; undefined when it did not. */
  failure(): ModelError | undefined;
  /** Stops the watch; call it when the answer is read. */
  release(): void;
}

/** The SDKs add headers from the environment (`*_CUSTOM_HEADERS`); only these names go out. */
const HEADERS_SENT = /^(accept|content-type|user-agent|anthropic-version|anthropic-beta|x-stainless-[a-z-]+)$/u;

/** An answer above this is no answer of a model. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });

/**
 * Makes the fetch of one model request: redirects refused (the SDKs would post the prompt to another host), only known headers sent,
 * the body watched for idleness and size, and refused when it is no event stream.
 */
export function guardedFetch({ idleMs, headers }: GuardOptions): GuardedFetch {
  const watchdog = new StreamWatchdog(idleMs);
  const guarded = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const signals = [watchdog.signal, init.signal].filter((signal) => signal != null);
    watchdog.start();
    const response = await undiciFetch(input instanceof Request ? input.url : input, {
      method: init.method ?? 'GET',
      headers: sentHeaders(init.headers, headers),
      // the SDKs send JSON text
      body: typeof init.body === 'string' ? init.body : null,
      signal: AbortSignal.any(signals),
      redirect: 'manual',
      dispatcher,
    });
    watchdog.sawBytes();
    refuseRedirect(response.status, response.headers.get('location'));
    if (response.ok) refuseOtherBody(response.headers.get('content-type'));
    const body = response.body?.pipeThrough(watched(watchdog));
    return new Response(body ?? null, { status: response.status, statusText: response.statusText, headers: [...response.headers] });
  };
  return { fetch: guarded, failure: () => watchdog.failure, release: () => watchdog.stop() };
}

function sentHeaders(given: RequestInit['headers'], own: Readonly<Record<string, string>>): Record<string, string> {
  const known = [...new Headers(given)].filter(([name]) => HEADERS_SENT.test(name));
  return { ...Object.fromEntries(known), ...own };
}

function refuseRedirect(status: number, location: string | null): void {
  if (status < 300 || status > 399) return;
  const host = location !== null && URL.canParse(location) ? new URL(location).host : 'an unknown host';
  throw new ModelError('Model.BadRequest', `MODEL_REDIRECT_REFUSED: the server sends the request on to ${host}`, { status });
}

/** An HTML page or a plain JSON answer would end the SDKs' stream without any event and without an error (faults 3.3). */
function refuseOtherBody(contentType: string | null): void {
  if (contentType?.toLowerCase().includes('text/event-stream')) return;
  throw new ModelError('Model.BadResponse', `the server answered with ${contentType ?? 'no content type'} instead of an event stream`, {
    status: 200,
  });
}

/** Passes bytes on, tells the watchdog of each, and ends a body that never ends. */
function watched(watchdog: StreamWatchdog): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      watchdog.sawBytes();
      bytes += chunk.byteLength;
      if (bytes > BODY_BYTES_MAX)
        controller.error(new ModelError('Model.BadResponse', `the answer is larger than ${BODY_BYTES_MAX} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
