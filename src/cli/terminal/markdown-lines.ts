import type { Token, Tokens } from 'marked';
import { terminalText } from '../display/terminal-text.js';
import { inlineLines } from './markdown-inline.js';
import { lexer } from './markdown-lexer.js';
import { tableLines } from './markdown-table.js';
import { type Line, plainLine, wrapBehind, wrapLine } from './styled-text.js';

const COLUMNS_MIN = 10;
/** Blocks nested deeper are shown as text. */
const DEPTH_MAX = 8;
const EMPTY: Line = [];

/**
 * Formats Markdown for a terminal, in rows of at most `columns`. Links show their address, HTML is shown as text, and nothing of it becomes
 * a control sequence. Never throws for the content. Pure.
 */
export function markdownLines(markdown: string, columns: number): Line[] {
  return blocks(lexer(terminalText(markdown)), { columns: Math.max(columns, COLUMNS_MIN), depth: 0 });
}

interface Room {
  readonly columns: number;
  readonly depth: number;
}

/** The blocks with an empty line between them. */
function blocks(tokens: readonly Token[], room: Room): Line[] {
  const shown = tokens.map((token) => blockLines(token, room)).filter((lines) => lines.length > 0);
  return shown.flatMap((lines, index) => (index === 0 ? lines : [EMPTY, ...lines]));
}

function blockLines(token: Token, room: Room): Line[] {
  const { columns, depth } = room;
  // a token of this name is one of marked's own, because no extension is used
  const known = token as Tokens.Generic & Token;
  if (depth >= DEPTH_MAX) return plain(token.raw, columns);
  switch (known.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    case 'heading':
      return inlineLines(childrenOf(token), ['heading']).flatMap((line) => wrapLine(line, columns));
    case 'code':
      return codeLines(textOf(token), columns);
    case 'blockquote':
      return blocks(childrenOf(token), inner(room, 2)).map((line) => [{ text: '│ ', styles: ['dim'] }, ...line]);
    case 'list':
      return listLines(token as Tokens.List, room);
    case 'table':
      return tableLines(token as Tokens.Table, columns);
    case 'hr':
      return [plainLine('─'.repeat(Math.min(columns, 40)), 'dim')];
    case 'html':
      return plain(token.raw, columns);
    default:
      return inlineLines(childrenOf(token, textOf(token))).flatMap((line) => wrapLine(line, columns));
  }
}

/** Code keeps its spaces, and is broken at the edge of the terminal. */
function codeLines(code: string, columns: number): Line[] {
  if (code === '') return [];
  return code.split('\n').flatMap((line) => {
    return wrapLine(plainLine(line, 'code'), columns - 2, { words: false }).map((row) => [{ text: '  ' }, ...row]);
  });
}

function listLines(list: Tokens.List, room: Room): Line[] {
  const first = typeof list.start === 'number' ? list.start : 1;
  const width = list.ordered ? `${first + list.items.length - 1}. `.length : 2;
  return list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${first + index}. `.padStart(width) : '• ';
    const box = item.task ? `[${item.checked ? 'x' : ' '}] ` : '';
    const lines = itemLines(item, inner(room, width + box.length));
    const shown = lines.length === 0 ? [EMPTY] : lines;
    return shown.map((line, row): Line => {
      return row === 0 ? [{ text: mark, styles: ['accent'] }, { text: box }, ...line] : [{ text: ' '.repeat(width + box.length) }, ...line];
    });
  });
}

/** The blocks of an item. Only a loose list has empty lines between them. */
function itemLines(item: Tokens.ListItem, room: Room): Line[] {
  return item.loose ? blocks(item.tokens, room) : item.tokens.flatMap((token) => blockLines(token, room));
}

function plain(text: string, columns: number): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapBehind(EMPTY, EMPTY, plainLine(line), columns));
}

function inner({ columns, depth }: Room, indent: number): Room {
  return { columns: Math.max(columns - indent, COLUMNS_MIN), depth: depth + 1 };
}

function childrenOf(token: Token, text = ''): readonly Token[] {
  if ('tokens' in token && token.tokens !== undefined) return token.tokens;
  return [{ type: 'text', raw: text, text }];
}

function textOf(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
}
