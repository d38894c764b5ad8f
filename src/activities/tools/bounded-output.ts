import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { cleanText } from '../../contracts/message.js';
import { measureOutput, type OutputSize } from './truncate-output.js';

/**
 * Collects an output of any length in bounded memory: its first and its last bytes, at least `endBytes` of each.
 * What is between them is counted and dropped.
 */
export class BoundedOutput {
  /** All bytes that came, kept or not. */
  bytes = 0;
  private newlines = 0;
  private endsInLine = false;
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  private tail: Buffer[] = [];
  private tailBytes = 0;
  private readonly endBytes: number;

  constructor(endBytes: number) {
    this.endBytes = endBytes;
  }

  /** True while nothing was dropped. */
  get complete(): boolean {
    return this.bytes === this.headBytes + this.tailBytes;
  }

  append(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.bytes += chunk.length;
    this.newlines += countNewlines(chunk);
    this.endsInLine = chunk.at(-1) !== 0x0a;
    const forHead = chunk.subarray(0, this.endBytes - this.headBytes);
    if (forHead.length > 0) this.head.push(forHead);
    this.headBytes += forHead.length;
    this.keepInTail(chunk.subarray(forHead.length));
  }

  /** What is kept: all bytes while the output is complete, else its two ends. */
  kept(): readonly Buffer[] {
    return [...this.head, ...this.tail];
  }

  /** What is kept as text, terminal colours removed, and the size of the whole. */
  text(): { readonly text: string; readonly size: OutputSize } {
    const text = cleanText(stripVTControlCharacters(new StringDecoder('utf8').end(Buffer.concat(this.kept()))));
    const size = this.complete ? measureOutput(text) : { bytes: this.bytes, lines: this.newlines + (this.endsInLine ? 1 : 0) };
    return { text, size };
  }

  /** The last line with anything on it, as it stands now: what a watcher is shown. */
  lastLine(): string {
    const last = this.tail.at(-1) ?? this.head.at(-1);
    const lines = stripVTControlCharacters((last ?? Buffer.alloc(0)).subarray(-1_000).toString()).split(/[\r\n]+/u);
    return lines.findLast((line) => line.trim() !== '')?.trim() ?? '';
  }

  private keepInTail(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.tail.push(chunk);
    this.tailBytes += chunk.length;
    if (this.tailBytes <= 2 * this.endBytes) return;
    // copied, so that dropped bytes do not live on in a chunk's memory
    this.tail = [Buffer.from(Buffer.concat(this.tail).subarray(-this.endBytes))];
    this.tailBytes = this.endBytes;
  }
}

function countNewlines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
