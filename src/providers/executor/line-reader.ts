import type { Readable } from 'node:stream';

const NEWLINE = 0x0a;

/** Reads lines of a stream, each only when it is asked for: whoever writes faster waits. Memory is bounded by one line. */
export class LineReader {
  /** Why there will be no further line although the stream has not ended. */
  problem: string | undefined;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #lineBytesMax: number;
  #rest: Buffer = Buffer.alloc(0);
  #bytesLeft = Infinity;

  constructor(stream: Readable, lineBytesMax: number) {
    // a stream without an encoding gives buffers
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#lineBytesMax = lineBytesMax;
  }

  /** From here on so many bytes may come, whatever came before. */
  allow(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  /** The next line without its end; undefined at the end of the stream, or when `problem` says why not. */
  async next(): Promise<string | undefined> {
    for (let from = 0; this.problem === undefined; ) {
      const end = this.#rest.indexOf(NEWLINE, from);
      if (end !== -1) return this.#take(end);
      if (this.#rest.length > this.#lineBytesMax) this.problem = `it wrote a line longer than ${this.#lineBytesMax} bytes`;
      else if (this.#bytesLeft < 0) this.problem = 'it writes without end';
      else {
        from = this.#rest.length;
        if (!(await this.#more())) return from === 0 ? undefined : this.#take(from);
      }
    }
    return undefined;
  }

  #take(end: number): string {
    const line = this.#rest.toString('utf8', 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done) return false;
    this.#bytesLeft -= value.length;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}
