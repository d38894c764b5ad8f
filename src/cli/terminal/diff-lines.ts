import { structuredPatch } from 'diff';
import { type Line, plainLine } from './styled-text.js';

/** Lines of a change that are shown. */
const LINES_MAX = 30;
const CONTEXT_LINES = 2;
/** Larger texts are not compared: it could take seconds. */
const COMPARED_CHARS_MAX = 100_000;
const EDITS_MAX = 2_000;

/** The lines of a replaced text and of its replacement, with the lines around each change. Pure. */
export function editDiff(oldText: string, newText: string): Line[] {
  return shortened(changedLines(oldText, newText).map(diffLine));
}

/** The lines of a new text. Pure. */
export function newTextDiff(text: string): Line[] {
  return shortened(linesOf(text).map((line) => diffLine(`+${line}`)));
}

/** The lines of a unified diff. Pure. */
export function patchDiff(patch: string): Line[] {
  return shortened(linesOf(patch).map(diffLine));
}

/** The first lines, and how many more there are. Pure. */
export function shortened(lines: readonly Line[], linesMax = LINES_MAX): Line[] {
  const more = lines.length - linesMax;
  // a line is not replaced by one that says that it is missing
  return more <= 1 ? [...lines] : [...lines.slice(0, linesMax), plainLine(`… ${more.toLocaleString('en')} more lines`, 'dim')];
}

function changedLines(oldText: string, newText: string): string[] {
  const compares = oldText.length + newText.length <= COMPARED_CHARS_MAX;
  const options = { context: CONTEXT_LINES, maxEditLength: EDITS_MAX };
  const patch = compares ? structuredPatch('', '', withEnd(oldText), withEnd(newText), undefined, undefined, options) : undefined;
  if (patch) return patch.hunks.flatMap(({ lines }, index) => (index === 0 ? lines : [' ⋮', ...lines]));
  return [...linesOf(oldText).map((line) => `-${line}`), ...linesOf(newText).map((line) => `+${line}`)];
}

/** A text that ends in a line break: what is replaced is a part of a file, and its end is no end of a file. */
function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split(/\r?\n/u);
}

function diffLine(line: string): Line {
  if (/^(?:---|\+\+\+) /u.test(line)) return plainLine(line, 'bold');
  if (line.startsWith('@@')) return plainLine(line, 'accent');
  if (line.startsWith('+')) return plainLine(`+ ${line.slice(1)}`, 'added');
  if (line.startsWith('-')) return plainLine(`- ${line.slice(1)}`, 'removed');
  return plainLine(line.startsWith(' ') ? `  ${line.slice(1)}` : line, 'dim');
}
