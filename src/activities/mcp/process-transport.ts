import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { ServerProcess } from '../../process/server-process.js';

const NEWLINE = 0x0a;

/**
 * The messages of an MCP server that is a process: one line of JSON each. A line that is no message is passed over, as one of a log. A line
 * that is too long ends the process: nobody knows where the next message begins.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the process was ended by this side. */
  problem: string | undefined;
  readonly #process: ServerProcess;
  readonly #cleaned: Promise<void>;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #errors = Buffer.alloc(0);

  /** `cleaned` settles when what the process ran in is removed. */
  constructor(process: ServerProcess, cleaned: Promise<void>) {
    this.#process = process;
    this.#cleaned = cleaned;
  }

  start(): Promise<void> {
    this.#process.read(
      (piece) => this.#take(piece),
      (piece) => {
        this.#errors = Buffer.from(Buffer.concat([this.#errors, piece]).subarray(-MCP_LIMITS.errorTailBytes));
      },
    );
    void this.#reportEnd();
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process.unwrittenBytes > MCP_LIMITS.unreadBytesMax) {
      this.#giveUp(`it left more than ${MCP_LIMITS.unreadBytesMax} bytes unread`);
      return;
    }
    await this.#process.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.problem ??= 'it was ended';
    await this.#process.end();
    // a worker that stops may exit right after this
    await this.#cleaned;
  }

  /** The end of its error output in one line; empty if there was none. */
  lastErrors(): string {
    return cleanText(this.#errors.toString('utf8')).replaceAll(/\s+/gu, ' ').trim().slice(-300);
  }

  /** Whether Node stays alive for it. */
  use(yes: boolean): void {
    this.#process.use(yes);
  }

  async #reportEnd(): Promise<void> {
    const code = await this.#process.ended;
    this.problem ??= `it ended with exit code ${code}`;
    this.onclose?.();
  }

  #take(piece: Buffer): void {
    if (this.problem !== undefined) return;
    for (let from = 0; ; ) {
      const end = piece.indexOf(NEWLINE, from);
      const part = piece.subarray(from, end === -1 ? undefined : end);
      this.#line.push(part);
      this.#lineBytes += part.length;
      if (this.#lineBytes > MCP_LIMITS.lineBytesMax)
        return this.#giveUp(`it wrote a message of more than ${MCP_LIMITS.lineBytesMax} bytes`);
      if (end === -1) return;
      const line = Buffer.concat(this.#line).toString('utf8');
      this.#line = [];
      this.#lineBytes = 0;
      this.#read(line);
      from = end + 1;
    }
  }

  #read(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // a line of a log
      return;
    }
    if (typeof message !== 'object' || message === null || Reflect.get(message, 'jsonrpc') !== '2.0') return;
    try {
      // the SDK passes over what is neither request, answer nor notification, and checks each against its schema
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #giveUp(problem: string): void {
    this.problem ??= problem;
    this.#line = [];
    void this.#process.end();
  }
}
