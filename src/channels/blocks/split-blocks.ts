import { type Bounds, breakAtLimit, breakInFence, finishedPart, paragraphBreak } from './break-point.js';
import { closingOf, type Fence, type FencedLine, fencedLines, reopeningOf } from './code-fence.js';

/** Sizes of blocks, in characters. */
export interface BlockSizes {
  /** A block ends at the first paragraph behind this size. Shorter paragraphs share a block. */
  readonly charsMin: number;
  /** No block is longer. */
  readonly charsMax: number;
}

/** A part of a text that is one message. */
export interface Block {
  /** The part as it is sent: without blank lines around it, and with each code fence closed. */
  readonly text: string;
  /** Where the part ends in the text. */
  readonly end: number;
}

/** How a text is split. */
export interface SplitOptions extends BlockSizes {
  /** False: more text may come, and only the blocks that it cannot change are returned. @default true */
  readonly isOver?: boolean;
  /** Ends of the first blocks, which were sent. @default none */
  readonly ends?: readonly number[];
}

/**
 * Splits a text into blocks: at paragraphs, else at lines, sentences, spaces, and never inside a character. A code fence stays whole. One
 * that is longer than a block is closed, and opened again in the next one. The blocks of a text that is not over are the first ones of
 * every longer text. Never throws.
 */
export function splitBlocks(text: string, { isOver = true, ends = [], ...sizes }: SplitOptions): Block[] {
  const cutter = new BlockCutter(text, sizes);
  for (const end of ends) cutter.take(end);
  for (let end = cutter.nextEnd(isOver); end !== undefined; end = cutter.nextEnd(isOver)) cutter.take(end);
  if (isOver) cutter.take(text.length);
  return cutter.blocks;
}

/** The end of the next block of a text that stopped arriving, as one of `ends`. Undefined while nothing more is finished. */
export function finishedEnd(text: string, options: SplitOptions): number | undefined {
  const cutter = new BlockCutter(text, options);
  for (const { end } of splitBlocks(text, { ...options, isOver: false })) cutter.take(end);
  return cutter.finishedEnd();
}

/** The code point behind a block decides whether a character ends there. */
const LOOK_AHEAD = 2;

/** Cuts one block after the other off a text. */
class BlockCutter {
  readonly blocks: Block[] = [];
  readonly #text: string;
  readonly #sizes: BlockSizes;
  #start = 0;
  #fence: Fence | undefined;

  constructor(text: string, sizes: BlockSizes) {
    this.#text = text;
    this.#sizes = sizes;
  }

  /** Ends a block here. No effect where nothing is left. */
  take(end: number): void {
    if (end <= this.#start || end > this.#text.length) return;
    const part = this.#text.slice(this.#start, end);
    const behind = fencedLines(part, { before: this.#fence }).at(-1)?.behind;
    const text = rendered(part, this.#fence, behind);
    if (text !== '') this.blocks.push({ text, end });
    this.#fence = behind && { line: behind.line, at: -1 };
    this.#start = end;
  }

  /** Where the next block ends. Undefined for the last one, and while more text may change it. */
  nextEnd(isOver: boolean): number | undefined {
    const { charsMin, charsMax } = this.#sizes;
    const bounds: Bounds = { min: Math.min(charsMin, charsMax), max: charsMax - (this.#fence ? reopeningOf(this.#fence).length : 0) };
    const window = this.#text.slice(this.#start, this.#start + bounds.max + LOOK_AHEAD);
    const lines = fencedLines(window, { before: this.#fence, isCut: true });
    const length = paragraphBreak(lines, bounds) ?? this.#breakAtLimit(window, { lines, bounds, isOver });
    return length === undefined ? undefined : this.#start + length;
  }

  /** Where the next block ends of a text that stopped arriving. */
  finishedEnd(): number | undefined {
    const length = finishedPart(this.#text.slice(this.#start), this.#fence);
    return length === undefined ? undefined : this.#start + length;
  }

  #breakAtLimit(
    window: string,
    { lines, bounds, isOver }: { readonly lines: readonly FencedLine[]; readonly bounds: Bounds; readonly isOver: boolean },
  ): number | undefined {
    const open = fencedLines(window, { before: this.#fence }).at(-1)?.behind;
    const fits = isOver ? window.length + (open ? closingOf(open).length : 0) <= bounds.max : window.length < bounds.max + LOOK_AHEAD;
    return fits ? undefined : (breakInFence(window, lines, bounds) ?? breakAtLimit(window, lines, bounds));
  }
}

/** A part as a message: without blank lines around it, and with its fence opened and closed. Empty without a word. */
function rendered(part: string, before: Fence | undefined, behind: Fence | undefined): string {
  const begin = before ? part : part.replace(/^(?:[ \t\r]*\n)+/u, '');
  const body = behind ? begin.replace(/\n$/u, '') : begin.trimEnd();
  if (body.trim() === '') return '';
  return `${before ? reopeningOf(before) : ''}${body}${behind ? closingOf(behind) : ''}`;
}
