import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FormatServer, type WireAnswer, WireRefusal } from '../providers/format/format-server.js';
import { HTTP_FORMATS } from '../providers/registry.js';
import type { ScriptInput, ScriptStepInput } from '../providers/scripted/script.js';
import type { WireFault } from '../providers/scripted/script-fault.js';
import { checkScript } from '../providers/scripted/script-file.js';
import { type ScriptedReply, type ScriptedRequest, ScriptPlayer, type StepName } from '../providers/scripted/script-player.js';
import { type Outgoing, sendAnswer } from './send-answer.js';

/** The default key of a wire server. */
export const WIRE_SERVER_KEY = 'wire-server-key';

/** About the limit of the hosted APIs. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** Options of a wire server. */
export interface WireServerOptions {
  /** The same script for all formats. */
  readonly script?: ScriptInput;
  /** Makes the step for each request, in place of a script; a fault in it applies to every request. */
  readonly handler?: (request: ScriptedRequest) => ScriptStepInput | Promise<ScriptStepInput>;
  /** @default all */
  readonly formats?: readonly FormatServer['name'][];
  /** Any other key is refused with 401. @default WIRE_SERVER_KEY */
  readonly apiKey?: string;
  /** Records the bodies of requests; set it to false for long benchmarks. @default true */
  readonly keepBodies?: boolean;
}

/** A request that the server received. `outcome` is `open` until the answer ends. */
export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly format: FormatServer['name'];
  readonly path: string;
  /** Without the key. */
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly step?: StepName;
  readonly fault?: WireFault;
  /** `gone`: the client disconnected before the answer ended. */
  readonly outcome: 'open' | 'answered' | 'refused' | 'faulted' | 'gone';
  /** Why it was refused. */
  readonly problem?: string;
}

/** A running wire server. */
export interface WireServer {
  readonly url: string;
  /** The base address for clients of OpenAI's formats. */
  readonly openaiBaseUrl: string;
  /** The base address for clients of the messages API, and of formats below the root. */
  readonly anthropicBaseUrl: string;
  readonly apiKey: string;
  /** All requests so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** The number of requests that this step answered, or failed by a fault. */
  requestsOf(step: StepName): number;
  /** Closes all connections and frees the port. */
  close(): Promise<void>;
}

type Player = (request: ScriptedRequest) => Promise<ScriptedReply>;
type OpenRecord = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] };

/**
 * Starts a server on the loopback interface that serves the models' wire formats. It plays a script or calls a handler, and refuses what
 * the real APIs refuse, with their messages. Throws a PerdureError `BAD_SCRIPT` for an invalid script.
 */
export async function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const chosen = HTTP_FORMATS.filter(({ api }) => options.formats?.includes(api) ?? true);
  const formats = await Promise.all(chosen.map((format) => format.loadServer()));
  const requests: OpenRecord[] = [];
  const service = {
    formats,
    requests,
    play: playerOf(options),
    apiKey: options.apiKey ?? WIRE_SERVER_KEY,
    keepBodies: options.keepBodies ?? true,
  };
  // a connection kept by a client must not be closed just when the next request is on its way
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => void serve(service, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    url,
    openaiBaseUrl: `${url}/v1`,
    anthropicBaseUrl: url,
    apiKey: service.apiKey,
    requests,
    requestsOf: (step) => requests.filter((request) => request.step === step).length,
    close: () => closeServer(server),
  };
}

interface Service {
  readonly formats: readonly FormatServer[];
  readonly requests: OpenRecord[];
  readonly play: Player;
  readonly apiKey: string;
  readonly keepBodies: boolean;
}

function playerOf({ script, handler }: WireServerOptions): Player {
  if (handler) {
    return async (request) => {
      const step = await handler(request);
      const reply = new ScriptPlayer(checkScript({ steps: [step], final: step, loop: true }, 'handler')).play(request);
      return reply.kind === 'answer' ? { ...reply, step: request.final ? 'final' : request.answered } : reply;
    };
  }
  const player = new ScriptPlayer(checkScript(script, 'script'));
  return async (request) => player.play(request);
}

async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  const format = service.formats.find((candidate) => candidate.path === path && request.method === 'POST');
  if (!format) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"Not found"}}');
  const left = new AbortController();
  response.on('close', () => left.abort());
  const { authorization: _, 'x-api-key': __, ...headers } = request.headers;
  const record: OpenRecord = { at: Date.now(), format: format.name, path, headers, body: undefined, outcome: 'open' };
  service.requests.push(record);
  const requestId = `req_${String(service.requests.length).padStart(6, '0')}`;
  response.setHeader(format.requestIdHeader, requestId);
  try {
    await answer(service, { format, request, response, record, requestId, signal: left.signal });
  } catch (error) {
    if (left.signal.aborted || response.headersSent) {
      record.outcome = 'gone';
      response.destroy();
    } else refuse(response, { format, record, requestId }, error);
  }
}

interface Exchange {
  readonly format: FormatServer;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: OpenRecord;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

async function answer(service: Service, exchange: Exchange): Promise<void> {
  const { format, request, response, record, requestId, signal } = exchange;
  const body = await readBody(request);
  if (service.keepBodies) record.body = body;
  const key = format.keyIn(request.headers);
  if (key !== service.apiKey) throw format.refuseKey(key);
  const wireRequest = format.check(body, request.headers);
  const reply = await service.play(wireRequest.view);
  if (reply.kind === 'refused') throw new WireRefusal(400, reply.problem);
  record.step = reply.step;
  if (reply.fault) record.fault = reply.fault;
  if (reply.delayMs > 0) await sleep(reply.delayMs, undefined, { signal });
  await sendAnswer(response, {
    format,
    ...contentOf(format, { id: requestId, request: wireRequest, answer: reply.answer }),
    chunkDelayMs: reply.chunkDelayMs,
    ...(reply.fault ? { fault: reply.fault } : {}),
    signal,
  });
  record.outcome = reply.fault ? 'faulted' : 'answered';
}

function contentOf(format: FormatServer, wire: WireAnswer): Pick<Outgoing, 'contentType' | 'events'> {
  if (wire.request.stream) return { contentType: format.contentType, events: format.events(wire) };
  return { contentType: 'application/json', events: [{ kind: 'done', text: JSON.stringify(format.document(wire)) }] };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new WireRefusal(413, 'Request exceeds the maximum size');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (error) {
    throw new WireRefusal(
      400,
      `We could not parse the JSON body of your request: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** An error of the server or of a handler is a 400 too: clients would retry a 500. */
function refuse(
  response: ServerResponse,
  { format, record, requestId }: Pick<Exchange, 'format' | 'record' | 'requestId'>,
  error: unknown,
): void {
  const refusal = error instanceof WireRefusal ? error : new WireRefusal(400, `wire server: ${String(error)}`);
  record.outcome = record.fault && 'status' in record.fault ? 'faulted' : 'refused';
  record.problem = refusal.message;
  const { retryAfter } = refusal.details;
  response
    .writeHead(refusal.status, { 'content-type': 'application/json', ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) })
    .end(JSON.stringify(format.errorBody(refusal, requestId)));
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the wire server has no port');
  return (address satisfies AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
