import { once } from 'node:events';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { TokenFunction } from '../../contracts/access/token-grant.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { AskedTokens } from './access/asked-tokens.js';
import type { Callers } from './access/caller.js';
import { isLoopback } from './access/same-machine.js';
import { ownerToken, type TokenEntry, Tokens } from './access/tokens.js';
import { createApp, type RequestTimeouts } from './app.js';
import { Gateway } from './routing/gateway.js';
import type { GatewayDoor } from './routing/gateway-door.js';
import type { Webhook } from './webhooks/mount-webhooks.js';

/** Options of `serveGateway`. */
export interface GatewayOptions {
  readonly door: GatewayDoor;
  /** Address to listen on. */
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** The token of the owner, which allows everything, the entries of a token file, or a function that knows tokens. */
  readonly access: { readonly token: string } | { readonly entries: readonly TokenEntry[] } | { readonly ask: TokenFunction };
  /** Requests of each token in a minute. */
  readonly requestsPerMinute: number;
  /** Open streams of each token. @default that of `HTTP_LIMITS` */
  readonly streamsMax?: number;
  /** Origin of the proxy in front of the gateway. Checked for the token of the owner. @default none */
  readonly publicOrigin?: string;
  /** Times for headers and for a whole request, in milliseconds. @default those of `HTTP_LIMITS` */
  readonly timeouts?: RequestTimeouts;
  /** Routes of chat platforms. @default none */
  readonly webhooks?: readonly Webhook[];
  /** Ends the gateway. */
  readonly signal: AbortSignal;
  /** Called once, with the address of the gateway. */
  readonly onListening: (url: string) => void;
  /** Called with an error that is a defect of the gateway. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Serves runs over HTTP until `signal` aborts: streams end then at once, requests in work are answered. Throws PerdureError `PORT` (2) if it
 * cannot listen.
 */
export async function serveGateway(options: GatewayOptions): Promise<void> {
  const { door, host, port, access, requestsPerMinute, streamsMax, publicOrigin, timeouts, webhooks, signal, onListening, onDefect } =
    options;
  const gateway = new Gateway(door);
  const isOwners = 'token' in access;
  const app = createApp({
    gateway,
    callers: callersOf(access, onDefect),
    requestsPerMinute,
    ...(streamsMax === undefined ? {} : { streamsMax }),
    ...(timeouts ? { timeouts } : {}),
    ...(webhooks ? { webhooks } : {}),
    ...(isOwners ? { site: { isLocal: isLoopback(host), ...(publicOrigin === undefined ? {} : { publicOrigin }) } } : {}),
    onDefect,
  });
  try {
    onListening(await listen(app, host, port));
    if (!signal.aborted) await once(signal, 'abort');
    await gateway.drain();
  } finally {
    setTimeout(() => app.server.closeAllConnections(), FLUSH_MS).unref();
    await app.close();
  }
}

function callersOf(access: GatewayOptions['access'], onDefect: GatewayOptions['onDefect']): Callers {
  if ('ask' in access) return new AskedTokens(access.ask, (problem) => onDefect(`gateway.tokens of the config: ${problem}`));
  return new Tokens('token' in access ? ownerToken(access.token) : access.entries);
}

/** Time for answers that were written to reach their clients. */
const FLUSH_MS = 500;

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const why = code === 'EADDRINUSE' ? 'is in use; choose another one with --port' : `cannot be used (${String(code)})`;
    throw new PerdureError('PORT', `port ${port} of ${host} ${why}`, 2, { cause: error });
  }
  const address = app.server.address();
  const given = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${given}`;
}
