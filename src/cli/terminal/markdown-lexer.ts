import type { Token } from 'marked';

/** Splits Markdown into tokens. Pure. */
export type MarkdownLexer = (markdown: string) => Token[];

/** The lexer of the optional package `marked`. Without it, Markdown is split into paragraphs, and shown as it was written. */
export const lexer: MarkdownLexer = await loadLexer();

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
