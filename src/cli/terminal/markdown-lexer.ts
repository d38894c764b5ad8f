import type { Token } from 'marked';

/** Splits Markdown into tokens. Pure. */
export type MarkdownLexer = (markdown: string) => Token[];

/** Longer texts are not read as Markdown. What streams is split before. */
const CHARS_MAX = 20_000;
/** Quotes and lists in each other, at the beginning of a line. A lexer that goes down into them has a stack. */
const DEPTH_MAX = 64;
/** Marks of emphasis in a paragraph. Each is compared with the others. */
const MARKS_MAX = 1_000;

/**
 * The lexer of the optional package `marked`. Without it, and for a text that would take it too long, Markdown is split into paragraphs, and
 * shown as it was written.
 */
export const lexer: MarkdownLexer = bounded(await loadLexer());

function bounded(split: MarkdownLexer): MarkdownLexer {
  return (markdown) => (isSmall(markdown) ? split(markdown) : paragraphTokens(markdown));
}

function isSmall(markdown: string): boolean {
  if (markdown.length > CHARS_MAX) return false;
  const isDeep = markdown.split('\n').some((line) => depthOf(line) > DEPTH_MAX);
  return !isDeep && markdown.split(/\n[ \t]*\n/u).every((paragraph) => count(paragraph, /[*_~]/gu) <= MARKS_MAX);
}

/** The number of marks of quotes and lists that a line begins with. */
function depthOf(line: string): number {
  const [marks = ''] = /^(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/u.exec(line) ?? [];
  return count(marks, /[>*+.)-]/gu);
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** Paragraphs, and the empty lines between them. Their text is not read as Markdown. Pure. */
export function paragraphTokens(text: string): Token[] {
  return text
    .split(/(?<=\n)(?=\n)|(?<=\n\n)(?!\n)/u)
    .filter((raw) => raw !== '')
    .map((raw) => {
      if (raw.trim() === '') return { type: 'space', raw };
      // inline HTML is the token whose text is shown unchanged
      const words = raw.replace(/\n+$/u, '');
      return { type: 'paragraph', raw, text: words, tokens: [{ type: 'html', raw: words, text: words }] };
    });
}

async function loadLexer(): Promise<MarkdownLexer> {
  try {
    const { lexer: split } = await import('marked');
    return (markdown) => split(markdown);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return paragraphTokens;
    throw error;
  }
}
