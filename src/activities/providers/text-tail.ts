import { stripVTControlCharacters } from 'node:util';
import { cleanText } from '../../contracts/clean-text.js';

/** What is kept beyond what is shown: a secret must be whole to be found. */
const KEPT_FACTOR = 4;

/** The end of an output of any length, for errors. */
export class TextTail {
  readonly #bytesMax: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  append(chunk: Buffer | string): void {
    const all = Buffer.concat([this.#kept, Buffer.from(chunk)]);
    // copied, so that a small end does not hold a large piece
    this.#kept = Buffer.from(all.subarray(-KEPT_FACTOR * this.#bytesMax));
  }

  /** The last bytes as text, without terminal colours, after `rewrite` looked at what is before them too. Empty when nothing came. */
  text(rewrite: (text: string) => string): string {
    const text = rewrite(cleanText(stripVTControlCharacters(this.#kept.toString('utf8')))).trim();
    const bytes = Buffer.from(text);
    if (bytes.length <= this.#bytesMax) return text;
    return `… ${bytes.toString('utf8', bytes.length - this.#bytesMax).replace(/^\uFFFD+/u, '')}`;
  }
}
