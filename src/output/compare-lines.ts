import { diffLines } from 'diff';

/** A line of a comparison of two texts. */
export interface ComparedLine {
  readonly kind: 'same' | 'added' | 'removed';
  /** Without its line end. */
  readonly text: string;
}

/** Larger texts are not compared. */
const COMPARED_CHARS_MAX = 100_000;
/** The comparison takes quadratic time in the number of edits, whatever the number of characters. */
const EDITS_MAX = 1_000;

/**
 * Compares two texts line by line. Texts that are large, or that differ in too many lines, are not compared: all lines of the first one are
 * removed, and all of the second one added. The time is bounded for every input. Pure.
 */
export function compareLines(before: string, after: string): readonly ComparedLine[] {
  const isSmall = before.length + after.length <= COMPARED_CHARS_MAX;
  const changes = isSmall ? diffLines(withLineEnd(before), withLineEnd(after), { maxEditLength: EDITS_MAX }) : undefined;
  return changes
    ? changes.flatMap(({ value, added, removed }) => linesOf(value, added ? 'added' : removed ? 'removed' : 'same'))
    : [...linesOf(before, 'removed'), ...linesOf(after, 'added')];
}

/** The lines of a text, all of one kind. Pure. */
export function linesOf(text: string, kind: ComparedLine['kind']): readonly ComparedLine[] {
  if (text === '') return [];
  return withLineEnd(text)
    .slice(0, -1)
    .split('\n')
    .map((line) => ({ kind, text: line.replace(/\r$/u, '') }));
}

/** A last line without a line end is not another line: what is compared is a part of a file. */
function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
