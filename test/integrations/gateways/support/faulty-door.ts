import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { HttpApi } from '../../../../src/define/provider-definition.js';
import type { FormatServer } from '../../../../src/providers/format/format-server.js';
import { httpFormat } from '../../../../src/providers/registry.js';
import type { ScriptStepInput } from '../../../../src/providers/scripted/script.js';
import { ScriptFault, type WireFault } from '../../../../src/providers/scripted/script-fault.js';
import { sendAnswer } from '../../../../src/testing/send-answer.js';
import type { RecordedRequest } from '../../../../src/testing/wire-server.js';
import type { Reply, ScriptedServer } from '../../../providers/suite/scripted-server.js';

/** What stands behind the door, and which faults are its own. */
export interface DoorOptions {
  /** The gateway's address, with the path below which it speaks the format. */
  readonly gateway: string;
  readonly gatewayKey: string;
  /** The format that the gateway is asked in. */
  readonly format: Exclude<HttpApi, 'openai-completions'>;
  /** The server behind the gateway. */
  readonly upstream: ScriptedServer;
  /** True for a fault of the connection to the gateway; any other one is the upstream's. */
  readonly isOwn: (fault: Fault) => boolean;
}

type Fault = NonNullable<ScriptStepInput['fault']>;

const OF_ONE_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding']);

interface GatewayAnswer {
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * Starts a server that stands before a gateway. What the gateway answers goes through it as it is; a fault of the connection hits the
 * bytes of the gateway's own answer. Its requests are those that reached the upstream, and those that it answered itself.
 */
export async function startFaultyDoor(options: DoorOptions): Promise<ScriptedServer> {
  const { upstream, format, gatewayKey, isOwn } = options;
  const door = new FaultyDoor(options, await httpFormat(format).loadServer());
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => void door.serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // a TCP server always has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: gatewayKey,
    format,
    get requests() {
      return [...upstream.requests, ...door.requests].toSorted((one, other) => one.at - other.at);
    },
    answerWith: (reply) => {
      door.reply = reply;
      upstream.answerWith((request) => withoutFault(stepOf(reply, request), isOwn));
    },
    get clientLeft() {
      return door.clientLeft;
    },
    bytesOfLastAnswer: async () => door.lastAnswer?.body ?? Buffer.alloc(0),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

class FaultyDoor {
  reply: Reply = {};
  /** Those that did not get any further. */
  readonly requests: RecordedRequest[] = [];
  /** The last one that went through whole. */
  lastAnswer: GatewayAnswer | undefined;
  /** The last client closed its connection before its answer was over. */
  clientLeft = false;
  readonly #options: DoorOptions;
  readonly #format: FormatServer;

  constructor(options: DoorOptions, format: FormatServer) {
    this.#options = options;
    this.#format = format;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    this.clientLeft = false;
    response.once('close', () => {
      this.clientLeft = !response.writableFinished;
      left.abort();
    });
    const body = await text(request);
    try {
      // the gateway gets nothing that the API itself would refuse
      const { view } = this.#format.check(JSON.parse(body), request.headers);
      const { fault } = stepOf(this.reply, view);
      const { signal } = left;
      if (fault && this.#options.isOwn(fault)) await this.#fail(request, response, { body, fault: wireFault(fault), signal });
      else await this.#pass(await this.#ask(request, body, signal), response);
    } catch (error) {
      if (left.signal.aborted || response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: String(error) } }));
    }
  }

  async #ask({ url = '/', headers }: IncomingMessage, body: string, signal: AbortSignal): Promise<Response> {
    const own = Object.entries(headers).filter(([name]) => name !== 'host' && !OF_ONE_HOP.has(name));
    const init = { method: 'POST', headers: own.map(([name, value]) => [name, String(value)] as [string, string]), body, signal };
    return await fetch(`${this.#options.gateway}${url}`, { ...init, redirect: 'manual' });
  }

  /** Passes an answer on as it comes, and keeps it. */
  async #pass(answer: Response, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    response.writeHead(answer.status, toldHeaders(answer.headers));
    response.flushHeaders();
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk);
      response.write(chunk);
    }
    response.end();
    this.lastAnswer = { headers: answer.headers, body: Buffer.concat(chunks) };
  }

  async #fail(request: IncomingMessage, response: ServerResponse, { body, fault, signal }: Failing): Promise<void> {
    const { name: format, path } = this.#format;
    // an answer that is to be held up is asked for anew; one that is to be cut is the last one, so that its bytes are known
    const answer = 'stall' in fault ? await this.#whole(request, body) : this.#cut(fault);
    if (!('stall' in fault)) {
      this.requests.push({ at: Date.now(), format, path, headers: {}, body: JSON.parse(body), fault, outcome: 'faulted' });
    }
    for (const [name, value] of Object.entries(toldHeaders(answer?.headers ?? new Headers()))) response.setHeader(name, value);
    const events = framesOf(answer?.body ?? Buffer.alloc(0)).map((frame) => ({ kind: 'text', text: frame }) as const);
    const contentType = 'text/event-stream; charset=utf-8';
    await sendAnswer(response, { format: this.#format, contentType, events, chunkDelayMs: 0, fault, signal });
  }

  async #whole(request: IncomingMessage, body: string): Promise<GatewayAnswer> {
    const answer = await this.#ask(request, body, AbortSignal.timeout(30_000));
    return { headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  }

  #cut(fault: WireFault): GatewayAnswer | undefined {
    if ('cutAfterBytes' in fault && !this.lastAnswer) throw new Error('there is no answer to cut yet');
    return 'cutAfterBytes' in fault ? this.lastAnswer : undefined;
  }
}

interface Failing {
  readonly body: string;
  readonly fault: WireFault;
  readonly signal: AbortSignal;
}

function stepOf(reply: Reply, request: Parameters<Extract<Reply, (...args: never[]) => unknown>>[0]): ScriptStepInput {
  return typeof reply === 'function' ? reply(request) : reply;
}

function withoutFault(step: ScriptStepInput, isOwn: DoorOptions['isOwn']): ScriptStepInput {
  const { fault, ...rest } = step;
  return fault && isOwn(fault) ? rest : step;
}

function wireFault(fault: Fault): WireFault {
  const whole = ScriptFault.parse(fault);
  if ('thinkTokens' in whole) throw new Error('that is no fault of a connection');
  return whole;
}

function framesOf(body: Buffer): readonly string[] {
  return body.toString().split(/(?<=\n\n)/u);
}

function toldHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OF_ONE_HOP.has(name)));
}
