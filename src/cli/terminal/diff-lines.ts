import { type ComparedLine, compareLines } from '../../output/compare-lines.js';
import { type Line, plainLine } from './styled-text.js';

/** Lines of a change that are shown. */
const LINES_MAX = 30;
const CONTEXT_LINES = 2;

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
  const lines = compareLines(oldText, newText);
  const near = nearChanges(lines);
  return [...near].flatMap((index, place, indexes) => {
    const line = lines[index];
    if (!line) return [];
    const isBehindGap = place > 0 && indexes[place - 1] !== index - 1;
    return [...(isBehindGap ? [' ⋮'] : []), `${SIGNS[line.kind]}${line.text}`];
  });
}

const SIGNS: Readonly<Record<ComparedLine['kind'], string>> = { same: ' ', added: '+', removed: '-' };

/** The indexes of the changed lines and of those around them, in their order. */
function nearChanges(lines: readonly ComparedLine[]): ReadonlySet<number> {
  const near = new Set<number>();
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return;
    const end = Math.min(lines.length - 1, index + CONTEXT_LINES);
    for (let each = Math.max(0, index - CONTEXT_LINES); each <= end; each += 1) near.add(each);
  });
  return near;
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
