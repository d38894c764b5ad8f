import { setTimeout as delay } from 'node:timers/promises';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Agent, fetch as undiciFetch } from 'undici';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import type { McpAddress } from '../../define/worker/mcp-servers.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import { loadSdk, resolvedValues } from './server-access.js';

/** The message of a request whose answer was cut. The SDK itself would wait for it until the time limit. */
export const ANSWER_CUT = 'the connection ended before the answer';

/** JSON-RPC's code for it: that of the SDK for a closed connection. */
const CONNECTION_CLOSED = -32_000;

/**
 * The platform's fetch ends an answer that is silent for five minutes. A server that asks may be silent for days, and a slow tool for an hour:
 * the time limit of the call is the only one.
 */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Options of a transport. */
export interface HttpTransportOptions {
  /** Opens the stream for messages that the server begins. */
  readonly listens: boolean;
}

/** The transport of a server with an address. Throws an Error for a reference without a value. */
export async function openHttpTransport(
  { url, headers = {}, token }: McpAddress,
  keys: KeyRing,
  { listens }: HttpTransportOptions,
): Promise<StreamableHTTPClientTransport> {
  const { StreamableHTTPClientTransport } = await loadSdk(() => import('@modelcontextprotocol/sdk/client/streamableHttp.js'));
  const bearer = token === undefined ? {} : { authorization: `Bearer ${resolvedValues({ token }, keys)['token'] ?? ''}` };
  const waiting = new Set<string | number>();
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...resolvedValues(headers, keys), ...bearer } },
    fetch: boundedFetch(listens, {
      onSent: (id) => waiting.add(id),
      onCut: (id) => {
        if (waiting.has(id)) transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: CONNECTION_CLOSED, message: ANSWER_CUT } });
      },
    }),
  });
  // the client calls it before its own handler
  const onmessage: StreamableHTTPClientTransport['onmessage'] = (message) => {
    if ('id' in message && message.id !== undefined && !('method' in message)) waiting.delete(message.id);
  };
  return Object.assign(transport, { onmessage });
}

/** Time in which the SDK reads what came before the end of an answer. */
const READ_MS = 200;

/** What becomes of requests. */
interface RequestObserver {
  readonly onSent: (id: string | number) => void;
  /** Called with the id of a request whose answer may have been cut and cannot be continued. */
  readonly onCut: (id: string | number) => void;
}

/**
 * Sends requests. Refuses the open stream for messages that the server begins, unless it `listens`: no run waits for one, and it would hold
 * a connection. A stream that continues a cut answer is opened. An answer is cut at the size of the largest message.
 */
function boundedFetch(listens: boolean, { onSent, onCut }: RequestObserver): FetchLike {
  return async (url, init) => {
    if (!listens && (init?.method ?? 'GET') === 'GET' && !new Headers(init?.headers).has('last-event-id'))
      return new Response(null, { status: 405 });
    const id = requestId(init?.body);
    if (id !== undefined) onSent(id);
    const { status, statusText, ok, body, headers: given } = await patientFetch(url, init);
    // the SDK knows the platform's own Response only
    const headers = [...given];
    if (body === null) return new Response(null, { status, statusText, headers });
    const onEnd = async (canContinue: boolean): Promise<void> => {
      await delay(READ_MS, undefined, { ref: false });
      if (id !== undefined && ok && !canContinue) onCut(id);
    };
    // the text of an error becomes a message
    const bytesMax = ok ? MCP_LIMITS.lineBytesMax : MCP_LIMITS.errorTextBytesMax;
    return new Response(bounded(body, { bytesMax, isCut: !ok, onEnd }), { status, statusText, headers });
  };
}

/** Sends a request of the SDK, whose body is text. */
function patientFetch(url: string | URL, init: RequestInit = {}): ReturnType<typeof undiciFetch> {
  const { method = 'GET', headers, body, signal, redirect = 'follow' } = init;
  return undiciFetch(url, {
    method,
    headers: [...new Headers(headers)],
    body: typeof body === 'string' ? body : null,
    signal: signal ?? null,
    redirect,
    dispatcher,
  });
}

/** The id of a request. An answer to the server has one of the server's, which may be that of a request of this side too. */
function requestId(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  // the body is a message of the SDK
  const { id, method } = JSON.parse(body) as { id?: string | number; method?: string };
  return method === undefined ? undefined : id;
}

interface Bounds {
  readonly bytesMax: number;
  /** True: a body that is too large ends there. False: it fails. */
  readonly isCut: boolean;
  /** Called at the end, with whether the body has events that an answer can be continued from. */
  readonly onEnd: (canContinue: boolean) => Promise<void>;
}

function bounded(body: ReadableStream<Uint8Array>, { bytesMax, isCut, onEnd }: Bounds): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let canContinue = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          void onEnd(canContinue);
          return;
        }
        bytes += value.length;
        canContinue ||= /^id:/mu.test(new TextDecoder().decode(value.subarray(0, 4_096)));
        if (bytes > bytesMax && !isCut) throw new Error(`the answer has more than ${bytesMax} bytes`);
        controller.enqueue(value);
        if (bytes <= bytesMax) return;
        controller.close();
        await reader.cancel();
        void onEnd(canContinue);
      } catch (error) {
        controller.error(error);
        void reader.cancel().catch(() => undefined);
        void onEnd(canContinue);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
