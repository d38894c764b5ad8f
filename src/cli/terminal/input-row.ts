import type { Typed } from './line-editor.js';
import { clipLine, columnsOf, type Line } from './styled-text.js';

/** A line that is typed, and what is shown while it is empty. */
export interface TypedLine {
  readonly input: Typed;
  readonly hint: string;
}

const MARK = '> ';

/** The row of a line that is typed, moved so that its cursor is visible, and the text before the cursor. Pure. */
export function inputRow({ input: { text, cursor }, hint }: TypedLine, columns: number): { readonly line: Line; readonly before: string } {
  const room = columns - MARK.length;
  let before = text.slice(0, cursor);
  while (columnsOf(before) > room - 1) before = before.slice(1);
  const shown = text === '' ? { text: hint, styles: ['dim'] as const } : { text: before + text.slice(cursor) };
  return { line: clipLine([{ text: MARK, styles: ['accent'] }, shown], columns), before: MARK + before };
}
