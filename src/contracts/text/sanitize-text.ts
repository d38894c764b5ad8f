import { cutText } from './redact.js';

/** Characters that Markdown interprets, in bare links too, and dots and dashes that renderers replace. */
const MARKS = /[\\`*_{}[\]()#+!|<>~&.:-]/gu;

/**
 * Escapes text of users, models and tools for Markdown: it renders unchanged, without links or formatting. Line breaks stay. Renderers may
 * curl quotes, so use `markdownCode` for text to copy.
 */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replaceAll(MARKS, String.raw`\$&`)
      // formulas and fractions: some renderers do not support a backslash here
      .replaceAll('$', '&#36;')
      .replaceAll(/(?<=\d)\/(?=\d)/gu, '&#47;')
  );
}

/** Text that a code span in a table cannot contain: its own marks, and placeholders that the Web UI replaces. */
const NO_CODE = /[`|]|\{(?:namespace|workflowId|runId)\}/u;

/** One line of text as a code span, which renders and copies exactly. Text that a code span cannot contain is escaped. */
export function markdownCode(line: string): string {
  return NO_CODE.test(line) ? escapeMarkdown(line) : `\`${line}\``;
}

/** Text that every store and protocol accepts: well-formed Unicode, with a symbol for NUL. Never throws. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\u2400');
}

/** Where a text is cut so that at most `charsMax` UTF-16 units are left: never between the halves of a surrogate pair. Pure. */
export function cutPosition(text: string, charsMax: number): number {
  if (text.length <= charsMax) return text.length;
  return /[\ud800-\udbff]/u.test(text.charAt(charsMax - 1)) ? charsMax - 1 : charsMax;
}

/** Characters that are invisible or change how their neighbours look. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The beginning of a value's JSON, at most `bytesMax` bytes, on one line and with invisible characters as escape sequences. */
export function jsonLine(value: unknown, bytesMax: number): string {
  return cutText(visibleJson(JSON.stringify(value)), bytesMax);
}

/** JSON text with invisible characters as escape sequences: no display and no terminal interprets them. It has the same value. */
export function visibleJson(json: string): string {
  return json.replaceAll(INVISIBLE, writtenOut);
}

/** Text with invisible characters as escape sequences. Its line breaks and tabs stay. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, (character) => (character === '\n' || character === '\t' ? character : writtenOut(character)));
}

function writtenOut(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join('');
}
