import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { CallsInWork } from '../calls-in-work.js';
import type { Door } from './door.js';
import { createMcpServer } from './mcp-server.js';

/** Options of `serveStdio`. */
export interface StdioOptions {
  readonly door: Door;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends the server. Aborts too when the other end of stdout is found to be closed. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Serves one client over stdin and stdout until its input ends. Requests that were read by then are answered; waits end with the progress of their run. */
export async function serveStdio({ door, stdin, stdout, signal, say }: StdioOptions): Promise<void> {
  const ending = new AbortController();
  const inWork = new CallsInWork();
  const mcp = createMcpServer({ door, ending: ending.signal, track: inWork.track });
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: GATEWAY_LIMITS.requestBytesMax });
  await new Promise<void>((resolve, reject) => {
    const end = (): void => resolve();
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    for (const event of ['end', 'close', 'error']) stdin.once(event, end);
    Object.assign(mcp.server, { onclose: end, onerror: (error: Error) => say(`request ignored: ${error.message}`) });
    mcp.connect(transport).catch(reject);
  });
  ending.abort();
  // a client that only ended its input still reads; what is written to one that is gone aborts the signal
  await inWork.ended(GATEWAY_LIMITS.inputEndedMs, signal);
  if (signal.aborted) await inWork.ended(GATEWAY_LIMITS.drainMs);
  await mcp.close();
}
