import type { Tokens } from 'marked';
import { inlineLines } from './markdown-inline.js';
import { type Line, lineColumns, type Span, wrapLine } from './styled-text.js';

const GAP = '  ';
const CELL_COLUMNS_MIN = 4;

/** Formats a table with aligned columns. Cells that do not fit are broken into several rows. Pure. */
export function tableLines(table: Tokens.Table, columns: number): Line[] {
  const head = table.header.map((cell) => cellLine(cell, true));
  const rows = table.rows.map((row) => row.map((cell) => cellLine(cell, false)));
  const widths = fitted(naturalWidths([head, ...rows]), columns);
  const rule: Line = [{ text: widths.map((width) => '─'.repeat(width)).join(GAP), styles: ['dim'] }];
  return [...rowLines(head, widths), rule, ...rows.flatMap((row) => rowLines(row, widths))];
}

function cellLine({ tokens }: Tokens.TableCell, isHead: boolean): Line {
  return inlineLines(tokens, isHead ? ['bold'] : []).flatMap((line, index): Span[] => (index === 0 ? [...line] : [{ text: ' ' }, ...line]));
}

function naturalWidths(rows: readonly (readonly Line[])[]): number[] {
  const count = Math.max(...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, column) => Math.max(1, ...rows.map((row) => lineColumns(row[column] ?? []))));
}

/** Takes columns from the widest cells until the row fits. */
function fitted(widths: number[], columns: number): number[] {
  const room = columns - GAP.length * (widths.length - 1);
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over -= 1) {
    const widest = Math.max(...widths);
    if (widest <= CELL_COLUMNS_MIN) break;
    const at = widths.indexOf(widest);
    widths[at] = widest - 1;
  }
  return widths;
}

function rowLines(cells: readonly Line[], widths: readonly number[]): Line[] {
  const wrapped = widths.map((width, column) => wrapLine(cells[column] ?? [], width));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) => {
    return widths.flatMap((width, column): Span[] => {
      const line = wrapped[column]?.[row] ?? [];
      const isLast = column === widths.length - 1;
      return [...line, { text: isLast ? '' : ' '.repeat(Math.max(0, width - lineColumns(line))) + GAP }];
    });
  });
}
