import { cutPosition } from '../../contracts/text/sanitize-text.js';
import { lexer } from './markdown-lexer.js';

/** A block of Markdown that grows beyond this many characters is broken at a line or a space. It could else be of any height. */
const BLOCK_CHARS_MAX = 8_000;
/** Characters that are added at once. */
const PART_CHARS_MAX = 4_000;
/** The first line of a code block, which each of its pieces gets again: it must be short. */
const FENCE = /^(?<fence> {0,3}(?<marks>`{3,99}|~{3,99})[^\n]{0,200})\n/u;

/** A piece of Markdown that no later text changes. */
export interface MarkdownPiece {
  readonly markdown: string;
  /** True if it continues the block of the piece before it, so that no empty line separates them. */
  readonly continues: boolean;
}

/**
 * Splits Markdown that arrives in parts into blocks. Only the last block can still change. Lines of an open code block are complete, and
 * are not held back.
 */
export class MarkdownStream {
  #open = '';
  #continues = false;

  /** The Markdown of the block that can still change. */
  get open(): MarkdownPiece {
    return { markdown: this.#open, continues: this.#continues };
  }

  /** Adds text. Returns the pieces that are complete now. */
  take(text: string): MarkdownPiece[] {
    const pieces: MarkdownPiece[] = [];
    // a part at a time: the time of the lexer grows faster than the text
    for (let at = 0; at < text.length; ) {
      const part = text.slice(at, at + cutPosition(text.slice(at, at + PART_CHARS_MAX + 1), PART_CHARS_MAX));
      this.#open += part;
      at += part.length;
      for (let end = this.#endOfFirst(); end > 0; end = this.#endOfFirst()) pieces.push(this.#cut(end));
    }
    return pieces;
  }

  /** Returns what is left, and starts anew. */
  end(): MarkdownPiece[] {
    const rest = this.open;
    this.#open = '';
    this.#continues = false;
    return rest.markdown.trim() === '' ? [] : [rest];
  }

  /** The length of the complete text at the beginning of the open one: 0 if there is none. */
  #endOfFirst(): number {
    const tokens = lexer(this.#open);
    const [first, ...others] = tokens.filter(({ type }) => type !== 'space');
    if (first === undefined) return 0;
    const end = this.#open.indexOf(first.raw) + first.raw.length;
    if (others.length > 0) return end;
    const fence = FENCE.exec(this.#open);
    const lastLine = this.#open.lastIndexOf('\n') + 1;
    if (fence && !isClosed(first.raw)) {
      // empty lines belong to the next piece: at the end of a code block they would be dropped
      const text = this.#open.slice(0, lastLine).trimEnd().length + 1;
      if (text > fence[0].length) return text;
      return this.#open.length <= BLOCK_CHARS_MAX ? 0 : cutPosition(this.#open, BLOCK_CHARS_MAX);
    }
    if (this.#open.length <= BLOCK_CHARS_MAX) return 0;
    if (lastLine > 0 && lastLine < this.#open.length) return lastLine;
    return this.#open.lastIndexOf(' ', BLOCK_CHARS_MAX) + 1 || cutPosition(this.#open, BLOCK_CHARS_MAX);
  }

  /** Takes the piece of this length. A piece of a code block is closed, and the rest gets the fence again. */
  #cut(end: number): MarkdownPiece {
    const text = this.#open.slice(0, end);
    const rest = this.#open.slice(end);
    const { fence, marks } = FENCE.exec(text)?.groups ?? {};
    const isInFence = fence !== undefined && !isClosed(text);
    const piece = { markdown: isInFence ? `${text}${text.endsWith('\n') ? '' : '\n'}${marks}` : text, continues: this.#continues };
    this.#continues = isInFence || (!text.endsWith('\n') && !rest.startsWith('\n'));
    this.#open = isInFence ? `${fence}\n${rest}` : rest.replace(/^\n+/u, '');
    return piece;
  }
}

/** True if a code block ends with a fence like the one that it begins with. */
function isClosed(block: string): boolean {
  const [first = '', ...lines] = block.trimEnd().split('\n');
  const fence = /^ {0,3}(?<marks>`{3,}|~{3,})/u.exec(first)?.groups?.['marks'];
  if (fence === undefined) return true;
  const last = lines.at(-1)?.trim() ?? '';
  return last.length >= fence.length && last === last.charAt(0).repeat(last.length) && last.startsWith(fence);
}
