import type { JsonValue } from '../../contracts/schemas/message.js';
import { visibleJson } from '../../contracts/text/sanitize-text.js';
import { type Line, plainLine, type Span, wrapBehind } from './styled-text.js';

/** A call with all its arguments. */
export interface WholeCall {
  readonly tool: string;
  readonly args: JsonValue;
}

const BAR: Span = { text: '  │ ', styles: ['warning'] };

/**
 * All that a call does, as text: the tool, and each argument with its name. Nothing is left out, and invisible characters are written out.
 * Line breaks of arguments stay. Pure.
 */
export function wholeCallText({ tool, args }: WholeCall): string {
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
  const named = isObject
    ? Object.entries(args).map(([name, value]) => `${visibleText(name)}: ${argumentText(value)}`)
    : [argumentText(args)];
  return [visibleText(tool), ...named].join('\n');
}

/** Rows of at most `columns`, behind a bar: none of them looks like a line of the display. Pure. */
export function quotedLines(text: string, columns: number): Line[] {
  return text.split('\n').flatMap((line) => wrapBehind([BAR], [BAR], plainLine(line), columns));
}

function argumentText(value: JsonValue): string {
  if (typeof value !== 'string') return visibleText(JSON.stringify(value));
  return value.includes('\n') ? `\n${visibleText(value)}` : visibleText(value);
}

function visibleText(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(visibleJson).join('\t'))
    .join('\n');
}
