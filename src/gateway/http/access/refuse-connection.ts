import type { Socket } from 'node:net';

/** What a client gets whose request the HTTP parser refuses, before there is a route. */
const REFUSALS: ReadonlyMap<string, readonly [status: string, code: string, message: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', 'HEADERS_TOO_LARGE', 'the address and the headers are too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['408 Request Timeout', 'REQUEST_TIMEOUT', 'the request was not sent in time']],
]);

/** Answers a request that cannot be parsed in the form of every error, and closes its connection. */
export function refuseConnection(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, code, message] = REFUSALS.get(error.code ?? '') ?? ['400 Bad Request', 'BAD_REQUEST', 'the request is malformed'];
  const body = `${JSON.stringify({ error: { code, message } })}\n`;
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}
