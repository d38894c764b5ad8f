import type { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { CallsInWork } from '../calls-in-work.js';
import { createAcpAgent } from './acp-agent.js';
import type { AcpDoor } from './door.js';
import { shortLines } from './short-lines.js';

/** Options of `serveAcp`. */
export interface AcpOptions {
  readonly door: AcpDoor;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends the server. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/**
 * Serves one editor over stdin and stdout until its input ends. Requests that were read by then are answered; prompts in work end with an
 * error, and their runs continue.
 */
export async function serveAcp({ door, stdin, stdout, signal, say }: AcpOptions): Promise<void> {
  const ending = new AbortController();
  const inWork = new CallsInWork();
  const output = new LineOutput(stdout);
  const end = (): void => {
    ending.abort();
    stdin.destroy();
  };
  if (signal.aborted) return;
  signal.addEventListener('abort', end, { once: true });
  // an editor that left reads no answers
  for (const event of ['close', 'error']) stdout.once(event, end);
  const lines = shortLines(readable(stdin), GATEWAY_LIMITS.requestBytesMax, () => void output.write(TOO_LONG));
  async function* untilAnswered(): AsyncGenerator<Uint8Array> {
    yield* lines;
    // the end of the stream closes the connection, which sends nothing after it
    ending.abort();
    await inWork.ended(GATEWAY_LIMITS.drainMs);
    await output.idle();
  }
  const app = createAcpAgent({ door, ending: ending.signal, track: inWork.track, say });
  const written = new WritableStream<Uint8Array>({ write: (line) => output.write(line) });
  const connection = app.connect(ndJsonStream(written, ReadableStream.from(untilAnswered())));
  await connection.closed;
  end();
}

/** What is read until the input ends, or breaks off. */
async function* readable(stdin: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stdin) yield Buffer.from(chunk);
  } catch {
    // the editor left, or this process ends
  }
}

const TOO_LONG = Buffer.from(
  `${JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: -32600,
      message: `Invalid request: the line has more than ${GATEWAY_LIMITS.requestBytesMax} bytes`,
      data: { code: 'LINE_TOO_LONG' },
    },
  })}\n`,
);

/** An output of whole lines. */
class LineOutput {
  readonly #stdout: Writable;
  #last: Promise<void> = Promise.resolve();

  constructor(stdout: Writable) {
    this.#stdout = stdout;
  }

  /** Writes a line. Resolves once the reader takes more; rejects if it left. */
  write(line: Uint8Array): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.#stdout.write(Buffer.from(line).toString(), (error) => (error ? reject(error) : resolve()));
    });
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Resolves once everything was taken that was written by now. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
