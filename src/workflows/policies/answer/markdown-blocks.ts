/** A fenced block of a Markdown text. */
export interface CodeBlock {
  /** The word after the opening fence, in lower case: `json`. */
  readonly language: string;
  readonly body: string;
  /** The text before it, back to the beginning. */
  readonly before: string;
}

/**
 * The replacement of a code block or of inline code. It is not empty, so that the last sentence of a text that ends with code is the code.
 */
const PLACE_OF_CODE = '`code`';

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+.-]*)/u;

/** The text with a mark instead of each code block and inline code. An unclosed block extends to the end. */
export function proseOf(text: string): string {
  const lines: string[] = [];
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const fence = FENCE.exec(line)?.[1];
    if (open === undefined && fence !== undefined) {
      open = fence;
      lines.push(PLACE_OF_CODE);
    } else if (open === undefined) lines.push(line.replaceAll(/(`{1,2})[^`]+\1/gu, PLACE_OF_CODE));
    else if (closes(line, open)) open = undefined;
  }
  return lines.join('\n');
}

/** The code block that a text ends with; undefined when it ends with anything else. */
export function finalBlock(text: string): CodeBlock | undefined {
  const lines = text.trimEnd().split('\n');
  let start: number | undefined;
  let open: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (open !== undefined && closes(line, open)) {
      open = undefined;
      if (index < lines.length - 1) start = undefined;
    } else if (open === undefined) {
      open = FENCE.exec(line)?.[1];
      start = open === undefined ? undefined : index;
    }
  }
  if (start === undefined) return undefined;
  return {
    language: (FENCE.exec(lines[start] ?? '')?.[2] ?? '').toLowerCase(),
    body: lines.slice(start + 1, open === undefined ? -1 : undefined).join('\n'),
    before: lines.slice(0, start).join('\n').trim(),
  };
}

function closes(line: string, open: string): boolean {
  const trimmed = line.trim();
  return trimmed.startsWith(open) && trimmed.replaceAll(open.charAt(0), '') === '';
}
