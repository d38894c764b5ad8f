/** A line that is typed, and the position of its cursor in UTF-16 units. */
export interface Typed {
  readonly text: string;
  readonly cursor: number;
}

/** A key that edits a line, or characters that were typed or pasted. */
export type Edit =
  | { readonly kind: 'insert'; readonly text: string }
  | { readonly kind: 'left' | 'right' | 'home' | 'end' | 'backspace' | 'delete' | 'delete-word' | 'delete-before' | 'delete-behind' };

export const NOTHING_TYPED: Typed = { text: '', cursor: 0 };

/** The line that a person is typing. It outlives the prompt and the controls that show it, so that neither loses a half typed line. */
export class Draft {
  typed: Typed = NOTHING_TYPED;
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Applies a key to a line. Keys move over and delete whole characters, as people see them. Pure. */
export function editLine({ text, cursor }: Typed, edit: Edit): Typed {
  const before = text.slice(0, cursor);
  const behind = text.slice(cursor);
  switch (edit.kind) {
    case 'insert':
      return { text: before + edit.text + behind, cursor: cursor + edit.text.length };
    case 'left':
      return { text, cursor: withoutLast(before).length };
    case 'right':
      return { text, cursor: cursor + firstOf(behind).length };
    case 'home':
      return { text, cursor: 0 };
    case 'end':
      return { text, cursor: text.length };
    case 'backspace':
      return joined(withoutLast(before), behind);
    case 'delete':
      return joined(before, behind.slice(firstOf(behind).length));
    case 'delete-word':
      return joined(before.replace(/\S+\s*$/u, ''), behind);
    case 'delete-before':
      return joined('', behind);
    case 'delete-behind':
      return joined(before, '');
  }
}

function joined(before: string, behind: string): Typed {
  return { text: before + behind, cursor: before.length };
}

function firstOf(text: string): string {
  for (const { segment } of SEGMENTER.segment(text)) return segment;
  return '';
}

function withoutLast(text: string): string {
  const last = Array.from(SEGMENTER.segment(text)).at(-1);
  return text.slice(0, last?.index ?? 0);
}
