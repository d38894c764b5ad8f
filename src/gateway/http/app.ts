import type { ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { HTTP_LIMITS } from '../../contracts/constants/limits.js';
import type { Caller, Callers } from './access/caller.js';
import { HttpError, httpErrorOf } from './access/http-error.js';
import { RateLimit } from './access/rate-limit.js';
import { refuseConnection } from './access/refuse-connection.js';
import { checkSite, type Site } from './access/same-machine.js';
import { StreamLimit } from './access/stream-limit.js';
import { StreamClient } from './events/stream-client.js';
import { readBody } from './read-body.js';
import { PAGE_ROUTES } from './routes/page.js';
import { ROUTES } from './routes/routes.js';
import type { Gateway } from './routing/gateway.js';
import type { Answer, Route } from './routing/route.js';
import { mountWebhooks, WEBHOOKS_PATH, type Webhook } from './webhooks/mount-webhooks.js';

/** How long a client may take to send a request, in milliseconds. */
export interface RequestTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
}

const TIMEOUTS: RequestTimeouts = { headersMs: HTTP_LIMITS.headersTimeoutMs, requestMs: HTTP_LIMITS.requestTimeoutMs };

/** What the app of a gateway needs. */
export interface AppOptions {
  readonly gateway: Gateway;
  readonly callers: Callers;
  readonly requestsPerMinute: number;
  /** Open streams of each token. @default that of `HTTP_LIMITS` */
  readonly streamsMax?: number;
  /** Requests of web pages are checked: of their host if only this machine reaches the gateway, and of their origin. @default not checked */
  readonly site?: Site;
  /** @default those of `HTTP_LIMITS` */
  readonly timeouts?: RequestTimeouts;
  /** @default none */
  readonly webhooks?: readonly Webhook[];
  /** Called with an error that is a defect of the gateway. */
  readonly onDefect: (error: unknown) => void;
}

/** Creates the HTTP server of a gateway, which does not listen yet. */
export function createApp(options: AppOptions): FastifyInstance {
  const { headersMs, requestMs } = options.timeouts ?? TIMEOUTS;
  const onDefect = once(options.onDefect);
  const app = fastify({
    bodyLimit: HTTP_LIMITS.bodyBytesMax,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    requestTimeout: requestMs,
    routerOptions: { maxParamLength: PARAM_CHARS_MAX },
    http: {
      connectionsCheckingInterval: HTTP_LIMITS.timeoutCheckMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      maxHeaderSize: HTTP_LIMITS.headerBytesMax,
    },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply, error);
    },
  });
  app.server.maxConnections = HTTP_LIMITS.connectionsMax;
  readJsonBodies(app);
  app.setErrorHandler((error, _request, reply) => {
    const refusal = httpErrorOf(error);
    if (refusal.status === 500) onDefect(error);
    return sendError(reply, refusal);
  });
  app.setNotFoundHandler((_request, reply) => sendError(reply, new HttpError(404, 'NOT_FOUND', 'no such route; see /openapi.json')));
  app.addHook('onRequest', (request, _reply, done) => {
    // a signature proves more than an address, and a tunnel to a platform has another name than this machine
    if (options.site && !request.url.startsWith(WEBHOOKS_PATH)) checkSite(request.headers, options.site);
    checkQuery(request.query);
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // a file of the page has a policy of its own
    reply.headers({ ...SECURITY_HEADERS, ...reply.getHeaders() });
    done();
  });
  const limit = new RateLimit(options.requestsPerMinute);
  const streams = new StreamLimit(options.streamsMax ?? HTTP_LIMITS.streamsMaxDefault);
  for (const route of [...ROUTES, ...PAGE_ROUTES]) addRoute(app, route, { ...options, limit, streams, onDefect });
  mountWebhooks(app, options.webhooks ?? [], options.gateway);
  return app;
}

/** Reports each error once: all clients of a feed get the error that ended it. */
function once(report: AppOptions['onDefect']): AppOptions['onDefect'] {
  const reported = new WeakSet<object>();
  return (error) => {
    if (typeof error === 'object' && error !== null) {
      if (reported.has(error)) return;
      reported.add(error);
    }
    report(error);
  };
}

/** Ids of sub-agents are long, and each character may be three. */
const PARAM_CHARS_MAX = 4_000;

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const charset = /;\s*charset="?(?<charset>[^";\s]+)/iu.exec(request.headers['content-type'] ?? '')?.groups?.['charset'];
    if (charset !== undefined && !/^utf-?8$/iu.test(charset)) return done(httpErrorOf({ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }));
    try {
      // `parseAs` gives a buffer
      done(null, readBody(body as Buffer));
    } catch (error) {
      done(httpErrorOf(error));
    }
  });
}

/** A token in an address is in the logs of every proxy. */
function checkQuery(query: unknown): void {
  const names = typeof query === 'object' && query !== null ? Object.keys(query) : [];
  if (!names.some((name) => /^(?:access[_-]?)?token$|^authorization$|^api[_-]?key$/iu.test(name))) return;
  throw new HttpError(400, 'TOKEN_IN_QUERY', 'send the token as header Authorization: Bearer TOKEN, never in the address');
}

interface RouteOptions extends AppOptions {
  readonly limit: RateLimit;
  readonly streams: StreamLimit;
}

function addRoute(app: FastifyInstance, route: Route, options: RouteOptions): void {
  const { gateway } = options;
  const callers = new WeakMap<FastifyRequest, Caller>();
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(?<name>\w+)\}/gu, ':$<name>'),
    // before the body is read
    onRequest: async (request) => {
      callers.set(request, await gateway.inWork.track(callerOf(request, route, options)));
    },
    handler: async (request, reply) => {
      const caller = callers.get(request) ?? NO_CALLER;
      const { headers, params, query, body } = request;
      // the router gives strings by the names of the path
      const call = { gateway, caller, headers, params: params as Record<string, string>, query, body };
      // before the route sends a message whose answer could not be streamed
      const endStream = takeStream(route, caller, options.streams);
      try {
        const answer = await gateway.inWork.track(answerOf(route, call));
        if (!('stream' in answer)) return await send(reply, answer);
        reply.hijack();
        await stream(reply.raw, answer).catch((error: unknown) => {
          // the client resumes, and gets an error that lasts as the answer
          if (httpErrorOf(error).status === 500) options.onDefect(error);
        });
        return reply;
      } finally {
        endStream?.();
      }
    },
  });
}

/** Takes a stream of the caller for a route that answers with one. Throws HttpError 429. */
function takeStream({ answers }: Route, { key }: Caller, streams: StreamLimit): (() => void) | undefined {
  if (!answers.some(({ contentType }) => contentType === 'text/event-stream')) return undefined;
  const end = streams.take(key);
  if (end) return end;
  throw new HttpError(429, 'TOO_MANY_STREAMS', 'too many open streams with this token; close one, or follow a session with one stream', {
    'retry-after': '1',
  });
}

const NO_CALLER: Caller = { key: '', rights: new Set() };

async function answerOf(route: Route, call: Parameters<Route['run']>[0]): Promise<Answer> {
  if (route.right === 'none') return await route.run(call);
  if (route.startsWork && call.gateway.isDraining) {
    throw new HttpError(503, 'DRAINING', 'this gateway ends and starts nothing new; use another one', { 'retry-after': '1' });
  }
  await call.gateway.untilReady();
  return await route.run(call);
}

/** Throws HttpError 401, 403, 429 or 503. */
async function callerOf(request: FastifyRequest, { right }: Route, { callers, limit }: RouteOptions): Promise<Caller> {
  if (right === 'none') return NO_CALLER;
  const caller = await callers.callerOf(request.headers.authorization);
  if (!caller) {
    throw new HttpError(401, 'UNAUTHORIZED', 'send the header Authorization: Bearer TOKEN', { 'www-authenticate': 'Bearer' });
  }
  const waitMs = limit.take(caller.key, Date.now());
  if (waitMs !== undefined) {
    throw new HttpError(429, 'TOO_MANY_REQUESTS', 'too many requests with this token', {
      'retry-after': String(Math.ceil(waitMs / 1_000)),
    });
  }
  if (!caller.rights.has(right)) throw new HttpError(403, 'FORBIDDEN', `the token does not have the right ${right}`);
  return caller;
}

async function send(reply: FastifyReply, answer: Exclude<Answer, { stream: unknown }>): Promise<FastifyReply> {
  if ('file' in answer) {
    const { bytes, contentType, headers } = answer.file;
    return await reply
      .code(answer.status)
      .headers({ ...headers, 'content-type': contentType })
      .send(bytes);
  }
  const { status, body, headers = {} } = answer;
  reply.code(status).headers(headers);
  if (body === undefined) return await reply.send();
  return await reply.header('content-type', 'application/json').send(`${JSON.stringify(body)}\n`);
}

function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const { status, code, message, headers } = httpErrorOf(error);
  // the rest of a body that was refused is not read
  const close = status === 413 || status === 401 || status === 403 ? { connection: 'close' } : {};
  return reply
    .code(status)
    .headers({ ...SECURITY_HEADERS, ...headers, ...close, 'content-type': 'application/json' })
    .send(`${JSON.stringify({ error: { code, message } })}\n`);
}

async function stream(response: ServerResponse, { stream: write, headers }: Extract<Answer, { stream: unknown }>): Promise<void> {
  if (response.destroyed) return;
  response.writeHead(200, { ...SECURITY_HEADERS, ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  response.write(`retry: ${RETRY_MS}\n\n`);
  const client = new StreamClient(response);
  try {
    await write(client);
  } finally {
    response.end();
  }
}

/** How long a browser waits before it resumes. */
const RETRY_MS = 1_000;
