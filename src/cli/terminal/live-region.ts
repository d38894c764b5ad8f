import type { OutputStream } from '../display/output.js';
import { terminalText } from '../display/terminal-text.js';
import { paintLine } from './paint-line.js';
import { clipLine, columnsOf, type Line, lineColumns, wrapLine } from './styled-text.js';

const COLUMNS_DEFAULT = 80;
const COLUMNS_MIN = 20;
const ROWS_DEFAULT = 24;
const ROWS_MIN = 6;

const ERASE_BELOW = '\u001b[J';
/** Text that is wider than the terminal is cut at its edge: a row that is replaced must never take two. */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/** A terminal to write to. */
export type Screen = OutputStream & { readonly columns?: number; readonly rows?: number };

/** The rows that are replaced, and where the cursor is in the last of them. */
export interface LiveRows {
  readonly lines: readonly Line[];
  /** The text before the cursor. Without it, the cursor is hidden. */
  readonly cursorBehind?: string;
}

const NOTHING: LiveRows = { lines: [] };

/**
 * The rows at the bottom of a terminal that are replaced with each change, below lines that stay. Also after a change of the terminal's
 * size, no row that was replaced is left.
 */
export class LiveRegion {
  readonly #screen: Screen;
  readonly #isColoured: boolean;
  #shown: readonly Line[] = [];
  #cursor = 0;

  constructor(screen: Screen, isColoured: boolean) {
    this.#screen = screen;
    this.#isColoured = isColoured;
  }

  /** The columns that a line may have. The last column stays empty, because many terminals wrap after it. */
  get columns(): number {
    return this.#screenColumns - 1;
  }

  /** The rows that may be replaced. More would leave the screen at its top, where nothing can be replaced. */
  get rows(): number {
    return Math.max(this.#screen.rows || ROWS_DEFAULT, ROWS_MIN) - 1;
  }

  /** Writes lines that stay, and replaces the rows below them. Lines that are too wide are broken. */
  write(staying: readonly Line[], live: LiveRows): void {
    const before = this.#erase();
    const text = staying.flatMap((line) => wrapLine(safeLine(line), this.columns)).map((line) => `${paintLine(line, this.#isColoured)}\n`);
    const rows = live.lines.slice(-this.rows).map((line) => clipLine(safeLine(line), this.columns));
    const painted = rows.map((line) => paintLine(line, this.#isColoured)).join('\n');
    this.#shown = rows;
    this.#cursor = Math.min(live.cursorBehind === undefined ? lineColumns(rows.at(-1) ?? []) : columnsOf(live.cursorBehind), this.columns);
    const column = rows.length > 0 && live.cursorBehind !== undefined ? `\r${this.#cursor > 0 ? `\u001b[${this.#cursor}C` : ''}` : '';
    const cursor = live.cursorBehind === undefined && rows.length > 0 ? HIDE_CURSOR : SHOW_CURSOR;
    this.#screen.write(`${before}${text.join('')}${rows.length > 0 ? `${NO_WRAP}${painted}${WRAP}${column}` : ''}${cursor}`);
  }

  /** Removes the rows. The cursor is at the beginning of an empty row. */
  clear(): void {
    this.write([], NOTHING);
  }

  /** Moves to the first of the shown rows and erases them. A narrower terminal has broken them into several rows. */
  #erase(): string {
    if (this.#shown.length === 0) return `\r${ERASE_BELOW}`;
    const width = this.#screenColumns;
    const above = this.#shown.slice(0, -1).reduce((sum, line) => sum + Math.max(1, Math.ceil(lineColumns(line) / width)), 0);
    const up = above + Math.floor(this.#cursor / width);
    return `${up > 0 ? `\u001b[${up}A` : ''}\r${ERASE_BELOW}`;
  }

  get #screenColumns(): number {
    // some terminals report no size, or a size of 0
    return Math.max(this.#screen.columns || COLUMNS_DEFAULT, COLUMNS_MIN);
  }
}

/** A line as it is painted: what is removed or written out changes its width. */
function safeLine(line: Line): Line {
  return line.map((span) => ({ ...span, text: terminalText(span.text) }));
}
