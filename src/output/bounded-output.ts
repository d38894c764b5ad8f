import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { cleanText } from '../contracts/text/sanitize-text.js';
import { measureOutput, type OutputSize } from './truncate-output.js';

/**
 * Collects an output of any length in bounded memory: its first and last bytes, at least `endBytes` of each. Counts and drops the bytes
 * between them.
 */
export class BoundedOutput {
  /** All bytes appended, kept or dropped. */
  bytes = 0;
  private newlines = 0;
  private endsInLine = false;
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  /** A fixed buffer. When it is full, its last half moves to the front, so that a long output allocates no memory. */
  private tail = Buffer.alloc(0);
  private tailBytes = 0;
  private readonly endBytes: number;

  constructor(endBytes: number) {
    this.endBytes = endBytes;
  }

  /** True if no byte was dropped. */
  get complete(): boolean {
    return this.bytes === this.headBytes + this.tailBytes;
  }

  append(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.bytes += chunk.length;
    this.newlines += countNewlines(chunk);
    this.endsInLine = chunk.at(-1) !== 0x0a;
    const forHead = chunk.subarray(0, this.endBytes - this.headBytes);
    // copies the bytes, because the caller may reuse the piece
    if (forHead.length > 0) this.head.push(Buffer.from(forHead));
    this.headBytes += forHead.length;
    this.keepInTail(chunk.subarray(forHead.length));
  }

  /** The kept bytes: all of a complete output, else its two ends. Valid until the next `append`. */
  kept(): readonly Buffer[] {
    return [...this.head, this.tail.subarray(0, this.tailBytes)];
  }

  /** The kept bytes as text without terminal colours, and the size of the whole output. */
  text(): { readonly text: string; readonly size: OutputSize } {
    const text = cleanText(stripVTControlCharacters(new StringDecoder('utf8').end(Buffer.concat(this.kept()))));
    const size = this.complete ? measureOutput(text) : { bytes: this.bytes, lines: this.newlines + (this.endsInLine ? 1 : 0) };
    return { text, size };
  }

  /** The last line that is not empty, for progress displays. */
  lastLine(): string {
    const last = this.tailBytes > 0 ? this.tail.subarray(0, this.tailBytes) : this.head.at(-1);
    const lines = stripVTControlCharacters(last?.subarray(-1_000).toString() ?? '').split(/[\r\n]+/u);
    return lines.findLast((line) => line.trim() !== '')?.trim() ?? '';
  }

  private keepInTail(chunk: Buffer): void {
    if (chunk.length === 0) return;
    if (this.tail.length === 0) this.tail = Buffer.alloc(2 * this.endBytes);
    if (this.tailBytes + chunk.length > this.tail.length) {
      this.tail.copyWithin(0, Math.max(0, this.tailBytes - this.endBytes), this.tailBytes);
      this.tailBytes = Math.min(this.tailBytes, this.endBytes);
    }
    const last = chunk.subarray(-this.endBytes);
    // a piece larger than the end replaces it
    if (last.length < chunk.length) this.tailBytes = 0;
    this.tailBytes += last.copy(this.tail, this.tailBytes);
  }
}

function countNewlines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
