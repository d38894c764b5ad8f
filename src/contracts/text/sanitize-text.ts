import { cutText } from './redact.js';

/** What Markdown reads as its own, links written out among it, and dots and dashes that a renderer makes prettier. */
const MARKS = /[\\`*_{}[\]()#+!|<>~&.:-]/gu;

/**
 * Text of users, models and tools for a place that renders Markdown: nothing in it looks like ours, is a link, or loses a character. Line
 * breaks stay. Quotes may be shown curled: what is to be copied goes into `markdownCode`.
 */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replaceAll(MARKS, String.raw`\$&`)
      // formulas and fractions: not every renderer knows a backslash before them
      .replaceAll('$', '&#36;')
      .replaceAll(/(?<=\d)\/(?=\d)/gu, '&#47;')
  );
}

/** What a code span in a table cannot hold: its own marks, and the names that the Web UI fills in. */
const NO_CODE = /[`|]|\{(?:namespace|workflowId|runId)\}/u;

/** One line of text as code, which is shown and copied exactly; text that code cannot hold is escaped. */
export function markdownCode(line: string): string {
  return NO_CODE.test(line) ? escapeMarkdown(line) : `\`${line}\``;
}

/** Text made fit for every store and wire: well-formed Unicode, NUL shown as its symbol. Never throws. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\u2400');
}

/** Characters that show nothing, or that make what stands beside them look like something else. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The beginning of a value's JSON, at most `bytesMax` bytes, as a person reads it: one line, whose invisible characters are written out. */
export function jsonLine(value: unknown, bytesMax: number): string {
  return cutText(JSON.stringify(value).replaceAll(INVISIBLE, writtenOut), bytesMax);
}

function writtenOut(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join('');
}
