/** How a piece of text looks. `paintLine` gives each style one of the terminal's own colours. */
export type Style =
  | 'bold'
  | 'dim'
  | 'italic'
  | 'strike'
  | 'heading'
  | 'code'
  | 'link'
  | 'call'
  | 'added'
  | 'removed'
  | 'error'
  | 'warning'
  | 'accent';

/** A piece of text with its styles. It has no line break. */
export interface Span {
  readonly text: string;
  readonly styles?: readonly Style[];
}

/** One row of text. */
export type Line = readonly Span[];

/** One character as people see it, with its width in columns. */
interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly styles: readonly Style[];
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const PRINTABLE_ASCII = /^[\u0020-\u007e]*$/u;
const NO_COLUMNS = /^[\p{M}\p{Cf}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
/** East Asian characters that take two columns. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
const TAB = '    ';
const NO_STYLES: readonly Style[] = [];

/** A line of one span. */
export function plainLine(text: string, ...styles: readonly Style[]): Line {
  return [{ text, styles }];
}

/** The columns that a text takes: 2 for wide characters and emoji, 0 for combining marks. Pure. */
export function columnsOf(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of SEGMENTER.segment(text)) columns += graphemeColumns(segment);
  return columns;
}

/** The columns that a line takes. Pure. */
export function lineColumns(line: Line): number {
  return line.reduce((sum, { text }) => sum + columnsOf(text), 0);
}

/** Breaks a line into rows of at most `columns`: at spaces where possible, or anywhere with `words: false`. Pure. */
export function wrapLine(line: Line, columns: number, { words = true }: { readonly words?: boolean } = {}): Line[] {
  const rows: Line[] = [];
  let row: Cell[] = [];
  let used = 0;
  for (const cell of line.flatMap(cellsOf)) {
    if (used + cell.columns > columns && row.length > 0) {
      const cut = words ? breakOf(row, cell) : row.length;
      rows.push(spansOf(row.slice(0, cut)));
      row = row.slice(cut).filter(({ text }, index) => index > 0 || text !== ' ');
      used = row.reduce((sum, each) => sum + each.columns, 0);
      if (words && row.length === 0 && cell.text === ' ') continue;
    }
    row.push(cell);
    used += cell.columns;
  }
  return [...rows, spansOf(row)];
}

/** Wraps a line behind a first row's beginning and a beginning for the others, which have the same width. Pure. */
export function wrapBehind(first: Line, others: Line, line: Line, columns: number): Line[] {
  const width = Math.max(1, columns - lineColumns(first));
  return wrapLine(line, width).map((row, index) => [...(index === 0 ? first : others), ...row]);
}

/** A line cut to `columns`, with an ellipsis if something is missing. Pure. */
export function clipLine(line: Line, columns: number): Line {
  if (lineColumns(line) <= columns) return line;
  const kept: Cell[] = [];
  let used = 1;
  for (const cell of line.flatMap(cellsOf)) {
    used += cell.columns;
    if (used > columns) break;
    kept.push(cell);
  }
  return columns < 1 ? [] : [...spansOf(kept), { text: '…', styles: kept.at(-1)?.styles ?? NO_STYLES }];
}

/** Where a full row is broken before `next`: behind its last word, or at its end if it has one word. */
function breakOf(row: readonly Cell[], next: Cell): number {
  if (next.text === ' ') return row.length;
  const space = row.findLastIndex(({ text }) => text === ' ');
  return row.findIndex(({ text }) => text !== ' ') < space ? space : row.length;
}

function cellsOf({ text, styles = NO_STYLES }: Span): Cell[] {
  const flat = text.replaceAll('\t', TAB);
  if (PRINTABLE_ASCII.test(flat)) return Array.from(flat, (each) => ({ text: each, columns: 1, styles }));
  return Array.from(SEGMENTER.segment(flat), ({ segment }) => ({ text: segment, columns: graphemeColumns(segment), styles }));
}

function graphemeColumns(grapheme: string): number {
  if (NO_COLUMNS.test(grapheme)) return 0;
  return WIDE.test(grapheme) || EMOJI.test(grapheme) ? 2 : 1;
}

/** Joins neighbours of the same styles. */
function spansOf(cells: readonly Cell[]): Line {
  const spans: { text: string; styles: readonly Style[] }[] = [];
  for (const { text, styles } of cells) {
    const last = spans.at(-1);
    if (last?.styles === styles) last.text += text;
    else spans.push({ text, styles });
  }
  return spans;
}
