import { type MarkdownBlock, readMarkdown } from './markdown.js';

/** Blocks at the end of a text that more text may still change: `2` behind a list becomes its next item. */
const OPEN_BLOCKS = 2;
/** The parser works at most this part of the time: it may take quadratic time for a block that grows. */
const PAUSE_FACTOR = 8;

/** Reads a Markdown text that grows. Only its last blocks are parsed again. */
export class GrowingMarkdown {
  readonly #clock: () => number;
  #text = '';
  #closed: readonly MarkdownBlock[] = [];
  #closedChars = 0;
  #readyAt = 0;

  /** `clock`: milliseconds. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Milliseconds until the text should be parsed again: a multiple of what the last time took. */
  get pauseMs(): number {
    return Math.max(0, this.#readyAt - this.#clock());
  }

  /** The blocks of the text. Those that did not change are the same objects. */
  read(text: string): readonly MarkdownBlock[] {
    const begin = this.#clock();
    // a source has the line ends of the parser
    const clean = text.replaceAll(/\r\n?/gu, '\n');
    if (!clean.startsWith(this.#text)) this.#forget();
    this.#text = clean;
    const open = readMarkdown(clean.slice(this.#closedChars));
    const blocks = [...this.#closed, ...open];
    this.#close(open.slice(0, -OPEN_BLOCKS));
    const end = this.#clock();
    this.#readyAt = end + PAUSE_FACTOR * (end - begin);
    return blocks;
  }

  #forget(): void {
    this.#closed = [];
    this.#closedChars = 0;
  }

  #close(blocks: readonly MarkdownBlock[]): void {
    for (const block of blocks) {
      const place = this.#text.indexOf(block.source, this.#closedChars);
      // the parser changed it: it stays open
      if (place === -1) return;
      this.#closed = [...this.#closed, block];
      this.#closedChars = place + block.source.length;
    }
  }
}
