import type { StreamEntry } from '../../streams/stream.js';
import { terminalText } from '../display/terminal-text.js';
import { StreamText } from '../display/token-stream.js';
import { markdownLines } from './markdown-lines.js';
import { type MarkdownPiece, MarkdownStream } from './markdown-stream.js';
import { type Line, plainLine, wrapLine } from './styled-text.js';

const EMPTY: Line = [];

/**
 * The answer that streams: its thinking as dimmed lines, its text as Markdown. Methods return the lines that stay from now on. What can
 * still change is in `openLines`.
 */
export class AnswerView {
  readonly #stream = new StreamText();
  readonly #markdown = new MarkdownStream();
  readonly #columns: () => number;
  #thinking = '';
  #streamed = '';
  #shown = '';
  #hasPiece = false;
  #completedTurn = 0;

  /** `columns` is the current width of the terminal. */
  constructor(columns: () => number) {
    this.#columns = columns;
  }

  /** True while an answer streams. */
  get isOpen(): boolean {
    return this.#streamed !== '' || this.#thinking !== '';
  }

  /** True if the last answer is this text. Spaces and line breaks do not count. */
  hasShown(text: string): boolean {
    return this.#shown !== '' && squashed(this.#shown) === squashed(text);
  }

  /** Takes the next event of the stream. */
  take(entry: StreamEntry): Line[] {
    const isFinal = entry.type === 'reset' && entry.final === true;
    if (isFinal) this.#completedTurn = 0;
    if (entry.turn <= this.#completedTurn) return [];
    const change = this.#stream.take(entry);
    switch (change.kind) {
      case 'restart': {
        const hadLines = this.#hasPiece || this.#streamed !== '';
        this.#reset();
        return hadLines ? [plainLine('(the response restarts)', 'dim')] : [];
      }
      case 'thinking':
        this.#thinking += change.text;
        return this.#endThinking(this.#thinking.lastIndexOf('\n') + 1);
      case 'text':
        return [...this.#endThinking(this.#thinking.length), ...this.#add(change.text)];
      case 'none':
        return [];
    }
  }

  /**
   * Ends the answer. `whole` is its text as the transcript has it, which counts if parts of the stream are missing. Later tokens of the
   * turn are dropped then.
   */
  complete(whole?: { readonly turn: number; readonly text: string }): Line[] {
    const lines = [...this.#endThinking(this.#thinking.length), ...(whole === undefined ? [] : this.#addMissing(whole.text))];
    lines.push(...this.#pieces(this.#markdown.end()));
    this.#completedTurn = Math.max(this.#completedTurn, whole?.turn ?? 0);
    this.#streamed = '';
    this.#hasPiece = false;
    return lines;
  }

  /** Shows a text that was not streamed. */
  whole(text: string): Line[] {
    this.#reset();
    return [...this.#add(text), ...this.complete()];
  }

  /** The lines that can still change. */
  openLines(): Line[] {
    const { markdown, continues } = this.#markdown.open;
    const thinking = this.#thinking === '' ? [] : thinkingLines(this.#thinking, this.#columns());
    const lines = markdown.trim() === '' ? [] : markdownLines(markdown, this.#columns());
    return [...thinking, ...(lines.length > 0 && this.#hasPiece && !continues ? [EMPTY, ...lines] : lines)];
  }

  /** The rest of an answer of which only a part was streamed. A text that differs is shown anew. */
  #addMissing(whole: string): Line[] {
    if (whole.trim() === '' || squashed(this.#streamed).endsWith(squashed(whole))) return [];
    if (whole.startsWith(this.#streamed)) return this.#add(whole.slice(this.#streamed.length));
    this.#reset();
    return [plainLine('(the response restarts)', 'dim'), ...this.#add(whole)];
  }

  #add(text: string): Line[] {
    // the text before may have been that of an earlier answer
    if (this.#streamed === '') this.#shown = '';
    this.#streamed += text;
    this.#shown += text;
    return this.#pieces(this.#markdown.take(terminalText(text)));
  }

  #pieces(pieces: readonly MarkdownPiece[]): Line[] {
    return pieces.flatMap(({ markdown, continues }) => {
      const lines = markdownLines(markdown, this.#columns());
      if (lines.length === 0) return [];
      const separated = this.#hasPiece && !continues ? [EMPTY, ...lines] : lines;
      this.#hasPiece = true;
      return separated;
    });
  }

  /** Ends the thinking up to a position. */
  #endThinking(end: number): Line[] {
    const ended = this.#thinking.slice(0, end);
    this.#thinking = this.#thinking.slice(end);
    return ended.trim() === '' ? [] : thinkingLines(ended, this.#columns());
  }

  #reset(): void {
    this.#markdown.end();
    this.#thinking = '';
    this.#streamed = '';
    this.#shown = '';
    this.#hasPiece = false;
  }
}

function thinkingLines(text: string, columns: number): Line[] {
  return terminalText(text)
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapLine(plainLine(line, 'dim', 'italic'), columns));
}

function squashed(text: string): string {
  return terminalText(text).replaceAll(/\s+/gu, '');
}
