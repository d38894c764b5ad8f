import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';

/**
 * True if a Temporal frontend without TLS answers `GetSystemInfo` at `host:port` within `timeoutMs`. Never rejects.
 * Uses plain HTTP/2, because loading a gRPC client takes 0.25 s and every start runs this probe.
 */
export function answersTemporal(address: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${address}`);
    const finish = (answered: boolean): void => {
      clearTimeout(deadline);
      session.destroy();
      resolve(answered);
    };
    const deadline = setTimeout(() => finish(false), timeoutMs);
    session.once('error', () => finish(false));
    const request = session.request({
      ':method': 'POST',
      ':path': '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.once('error', () => finish(false));
    request.once('trailers', (trailers) => finish(trailers['grpc-status'] === '0'));
    // an error without a message has headers only
    request.once('response', (headers) => {
      if (headers['grpc-status'] !== undefined) finish(headers['grpc-status'] === '0');
    });
    request.once('end', () => finish(false));
    request.resume();
    // one uncompressed gRPC message of length 0
    request.end(Buffer.alloc(5));
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
