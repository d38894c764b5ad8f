import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextPoll } from 'node:timers/promises';

/** A request as it came in. */
export interface RawRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request in any way it likes, also wrong ones. */
export type RawHandler = (response: ServerResponse, request: RawRequest) => void | Promise<void>;

/** A server on the loopback interface that does what a test says, byte by byte. */
export interface RawServer {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  answerWith(handler: RawHandler): void;
  close(): Promise<void>;
}

/** Starts one. `close` cuts its connections and frees the port. */
export async function startRawServer(first: RawHandler = (response) => void response.end()): Promise<RawServer> {
  const requests: RawRequest[] = [];
  let handler = first;
  const server = createServer((incoming, response) => void answer(incoming, response));
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = { path: incoming.url ?? '', headers: incoming.headers, body: Buffer.concat(chunks).toString() };
    requests.push(request);
    await handler(response, request);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // a TCP server always has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answerWith: (next) => {
      handler = next;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Sends an event stream whole. */
export function streamOf(...bytes: (string | Uint8Array)[]): RawHandler {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of bytes) response.write(piece);
    response.end();
  };
}

/** Sends an answer with a status and a JSON body. */
export function statusOf(status: number, body: unknown, headers: Record<string, string> = {}): RawHandler {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** More turns of the event loop than a request needs from one socket of this process to a server behind another one. */
const POLLS = 20;

/**
 * Reads what was sent within this process. On a busy machine, a short silence may end a call before its server has read the request, and
 * even before the request was sent. A server of this process that has no request afterwards never gets it.
 */
export async function readAllSent(): Promise<void> {
  for (let poll = 0; poll < POLLS; poll += 1) await nextPoll();
}
