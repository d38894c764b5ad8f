import { columnsOf } from '../../../../src/cli/terminal/styled-text.js';
import type { Size } from './tmux.js';

const CELL = { width: 8.4, height: 18 };
const PADDING = 14;
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const BACKGROUND = '#14161b';
const TEXT = '#d7dae0';
/** The colours 30 to 37 of the dark theme of the pictures. */
const COLOURS = ['#3b4048', '#f07178', '#a5d6a7', '#e5c07b', '#82aaff', '#c792ea', '#7fd5e8', TEXT];
const ESC = '\u001b';
const SEQUENCE = new RegExp(String.raw`${ESC}\[(?<codes>[\d;]*)m`, 'u');
const BEFORE_SEQUENCE = new RegExp(String.raw`(?=${ESC}\[[\d;]*m)`, 'u');

interface Look {
  readonly colour?: string;
  readonly codes: ReadonlySet<number>;
}

const PLAIN: Look = { codes: new Set() };

/** Draws a captured screen, with its colours, as an SVG picture. Each piece of text stands at its column, whatever the font is. Pure. */
export function terminalPicture(screen: string, { columns, rows }: Size, title: string): string {
  const width = Math.ceil(columns * CELL.width + 2 * PADDING);
  const height = rows * CELL.height + 2 * PADDING;
  let look = PLAIN;
  const texts = screen.split('\n').flatMap((line, row) => {
    let column = 0;
    return line.split(BEFORE_SEQUENCE).flatMap((part) => {
      const codes = SEQUENCE.exec(part)?.groups?.['codes'];
      if (codes !== undefined) look = lookAfter(look, codes);
      const text = part.replace(SEQUENCE, '');
      const indent = text.length - text.trimStart().length;
      const at = column + indent;
      column += columnsOf(text);
      return text.trim() === '' ? [] : [textAt(text.trim(), { row, column: at }, look)];
    });
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="${FONT}" font-size="14" fill="${TEXT}" xml:space="preserve">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function textAt(text: string, { row, column }: { readonly row: number; readonly column: number }, { colour, codes }: Look): string {
  const styles = [
    ...(colour === undefined ? [] : [`fill="${colour}"`]),
    ...(codes.has(1) ? ['font-weight="bold"'] : []),
    ...(codes.has(2) ? ['opacity="0.6"'] : []),
    ...(codes.has(3) ? ['font-style="italic"'] : []),
    ...(codes.has(4) ? ['text-decoration="underline"'] : []),
  ];
  const x = (PADDING + column * CELL.width).toFixed(1);
  const y = PADDING + row * CELL.height + 13;
  const width = (columnsOf(text) * CELL.width).toFixed(1);
  return `<text x="${x}" y="${y}" textLength="${width}" lengthAdjust="spacingAndGlyphs" ${styles.join(' ')}>${escaped(text).replaceAll(' ', '\u00a0')}</text>`;
}

function lookAfter(look: Look, codes: string): Look {
  return codes
    .split(';')
    .map(Number)
    .reduce<Look>((before, code) => {
      if (code === 0) return PLAIN;
      if (code >= 30 && code <= 37) return { ...before, colour: COLOURS[code - 30] ?? TEXT };
      if (code === 39) return { codes: before.codes };
      return { ...before, codes: new Set([...before.codes, code]) };
    }, look);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
