/** An open code fence. */
export interface Fence {
  /** Its opening line. */
  readonly line: string;
  /** Where the opening line begins. Negative, if an earlier block has it. */
  readonly at: number;
}

/** A line of a text, and the fence around it. */
export interface FencedLine {
  /** Where it begins, and where the next one would. */
  readonly at: number;
  readonly end: number;
  readonly isBlank: boolean;
  /** The fence that is open before the line. */
  readonly before: Fence | undefined;
  /** The fence that is open behind it. */
  readonly behind: Fence | undefined;
}

/** How the lines of a text are read. */
export interface FenceOptions {
  /** The fence that is open where the text begins. @default none */
  readonly before?: Fence | undefined;
  /** The text was cut at its end: a last line that may be the beginning of a fence counts as one. @default false */
  readonly isCut?: boolean;
}

/** The lines of a text with their code fences. Never throws. */
export function fencedLines(text: string, { before, isCut = false }: FenceOptions = {}): FencedLine[] {
  const lines: FencedLine[] = [];
  let fence = before;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, end).trimEnd();
    const behind = fenceBehind(line, { at, fence, isCut: isCut && newline === -1 });
    lines.push({ at, end, isBlank: line === '', before: fence, behind });
    fence = behind;
    at = end;
  }
  return lines;
}

/** What closes a fence at the end of a block. */
export function closingOf({ line }: Fence): string {
  return `\n${indentOf(line)}${markerOf(line)}`;
}

/** What opens a fence again at the beginning of a block. */
export function reopeningOf({ line }: Fence): string {
  return `${line.length <= OPENING_CHARS_MAX ? line : `${indentOf(line)}${markerOf(line)}`}\n`;
}

/** Longest opening line that is repeated with its language. */
const OPENING_CHARS_MAX = 60;

/** Longer markers and indents are no code that a person reads, and would fill a block. */
const OPENING = /^[ \t]{0,12}(?<marker>`{3,12}|~{3,12})(?![`~])(?<info>[^\n]*)$/u;

function fenceBehind(
  line: string,
  { at, fence, isCut }: { readonly at: number; readonly fence: Fence | undefined; readonly isCut: boolean },
): Fence | undefined {
  if (fence) return closes(line, fence) ? undefined : fence;
  const mayOpen = isCut && /^[ \t]*(?:`{1,2}|~{1,2})$/u.test(line);
  return markerOf(line) !== '' || mayOpen ? { line, at } : undefined;
}

function closes(line: string, fence: Fence): boolean {
  const marker = /^[ \t]*(?<marker>`{3,}|~{3,})$/u.exec(line)?.groups?.['marker'] ?? '';
  return marker !== '' && marker.startsWith(markerOf(fence.line));
}

/** The marker of an opening line. Empty for another line. */
function markerOf(line: string): string {
  const { marker = '', info = '' } = OPENING.exec(line)?.groups ?? {};
  return marker.startsWith('`') && info.includes('`') ? '' : marker;
}

function indentOf(line: string): string {
  return /^[ \t]*/u.exec(line)?.[0] ?? '';
}
