import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';

/** True if a Temporal frontend without TLS answers `GetSystemInfo` at `host:port` within `timeoutMs`. Never rejects. */
export async function answersTemporal(address: string, timeoutMs: number): Promise<boolean> {
  return (await callTemporal(address, { method: 'GetSystemInfo', message: Buffer.alloc(0), timeoutMs })) !== undefined;
}

/**
 * The id of a namespace at a Temporal frontend without TLS, or undefined if it does not answer within `timeoutMs` or has no such
 * namespace. Never rejects.
 */
export async function namespaceIdAt(
  address: string,
  { namespace, timeoutMs }: { readonly namespace: string; readonly timeoutMs: number },
): Promise<string | undefined> {
  const name = Buffer.from(namespace);
  // DescribeNamespaceRequest: field 1 is the name
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const answer = await callTemporal(address, { method: 'DescribeNamespace', message, timeoutMs });
  // in NamespaceInfo, field 6 is the id, a UUID of 36 bytes
  return /\x32\x24(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/u.exec(answer?.toString('latin1') ?? '')?.groups?.['id'];
}

interface UnaryCall {
  readonly method: string;
  readonly message: Buffer;
  readonly timeoutMs: number;
}

/** Calls a method of the frontend. Uses plain HTTP/2, because loading a gRPC client takes 0.25 s and every start runs this probe. */
function callTemporal(address: string, { method, message, timeoutMs }: UnaryCall): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${address}`);
    const pieces: Buffer[] = [];
    const finish = (answered: boolean): void => {
      clearTimeout(deadline);
      session.destroy();
      resolve(answered ? Buffer.concat(pieces) : undefined);
    };
    const deadline = setTimeout(() => finish(false), timeoutMs);
    session.once('error', () => finish(false));
    const request = session.request({
      ':method': 'POST',
      ':path': `/temporal.api.workflowservice.v1.WorkflowService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.once('error', () => finish(false));
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('trailers', (trailers) => finish(trailers['grpc-status'] === '0'));
    // an error without a message has headers only
    request.once('response', (headers) => {
      if (headers['grpc-status'] !== undefined) finish(headers['grpc-status'] === '0');
    });
    request.once('end', () => finish(false));
    // one uncompressed gRPC message: a flag and its length
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    request.end(Buffer.concat([head, message]));
  });
}

/** True if the host accepts a TCP connection on the port within `timeoutMs`. Never rejects. */
export function acceptsTcp(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port, timeout: timeoutMs });
    const finish = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
}
