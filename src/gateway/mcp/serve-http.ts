import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { CallsInWork } from '../calls-in-work.js';
import type { Door } from './door.js';
import { createMcpServer } from './mcp-server.js';

/** Options of `serveHttp`. */
export interface HttpOptions {
  readonly door: Door;
  /** Address to listen on. */
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Each request must carry it: `Authorization: Bearer TOKEN`. */
  readonly token: string;
  /** @default those of `GATEWAY_LIMITS` */
  readonly timeouts?: { readonly headersTimeout: number; readonly requestTimeout: number };
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Called once, with the address of the server. */
  readonly onListening: (url: string) => void;
}

/**
 * Serves clients over streamable HTTP at `/mcp` until `signal` aborts. Each request is answered by itself: there are no sessions that a
 * restart could lose. Throws PerdureError `PORT` (2) if it cannot listen.
 */
export async function serveHttp({ door, host, port, token, timeouts, signal, onListening }: HttpOptions): Promise<void> {
  const ending = new AbortController();
  const inWork = new CallsInWork();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = refuse(request, { token, isLoopback: isLoopback(host) });
    if (refusal) return sendRefusal(response, refusal);
    const mcp = createMcpServer({ door, ending: ending.signal, track: inWork.track });
    const transport = new StreamableHTTPServerTransport({ maxRequestBodySize: GATEWAY_LIMITS.requestBytesMax });
    // a client that leaves ends its waits, never its runs
    response.once('close', () => void mcp.close());
    await mcp.connect(transport);
    await transport.handleRequest(request, response);
  };
  const server = createServer({ ...TIMEOUTS, ...timeouts }, (request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else sendRefusal(response, { status: 500, code: 'INTERNAL', message: 'the request could not be answered' });
    });
  });
  server.maxConnections = GATEWAY_LIMITS.connectionsMax;
  onListening(await listen(server, host, port));
  if (!signal.aborted) await once(signal, 'abort');
  ending.abort();
  const closed = once(server, 'close');
  server.close();
  await inWork.ended(GATEWAY_LIMITS.drainMs);
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), FLUSH_MS).unref();
  await closed;
}

const TIMEOUTS = {
  headersTimeout: GATEWAY_LIMITS.headersTimeoutMs,
  requestTimeout: GATEWAY_LIMITS.requestTimeoutMs,
  // Node looks every 30 s otherwise, and a slow client holds its connection for so much longer
  connectionsCheckingInterval: GATEWAY_LIMITS.timeoutCheckMs,
} as const;

/** Time for answers that were written to reach their clients. */
const FLUSH_MS = 500;

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'is in use; choose another one with --port' : `cannot be used (${error.code ?? error.message})`;
      reject(new PerdureError('PORT', `port ${port} of ${host} ${why}`, 2, { cause: error }));
    });
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const address = server.address();
  const given = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${given}/mcp`;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Why a request is refused. The path and the token of a request are checked before its body is read. */
function refuse(request: IncomingMessage, { token, isLoopback: local }: { token: string; isLoopback: boolean }): Refusal | undefined {
  const { host = '', authorization = '' } = request.headers;
  // a web page whose name resolves to this machine sends its own name
  if (local && !LOCAL_NAMES.test(host)) return { status: 403, code: 'BAD_HOST', message: 'the Host header is not of this machine' };
  if (!isToken(authorization, token)) return { status: 401, code: 'UNAUTHORIZED', message: 'send the header Authorization: Bearer TOKEN' };
  const [path] = (request.url ?? '').split('?');
  if (path !== '/mcp') return { status: 404, code: 'NOT_FOUND', message: 'the server is at /mcp' };
  // without sessions there is nothing to listen to and nothing to delete
  if (request.method !== 'POST') return { status: 405, code: 'METHOD_NOT_ALLOWED', message: 'use POST' };
  return undefined;
}

const LOCAL_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/iu;

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Compares hashes, whose time tells nothing of the token. */
function isToken(authorization: string, token: string): boolean {
  const [, given = ''] = /^Bearer (?<token>\S+)$/iu.exec(authorization) ?? [];
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

function sendRefusal(response: ServerResponse, { status, code, message }: Refusal): void {
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 405 ? { allow: 'POST' } : {}),
  };
  response.writeHead(status, headers).end(`${JSON.stringify({ error: { code, message } })}\n`);
}
