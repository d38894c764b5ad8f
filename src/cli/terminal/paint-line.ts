import { terminalText } from '../display/terminal-text.js';
import type { Line, Style } from './styled-text.js';

/**
 * The codes of the styles. The 16 basic colours are those of the terminal's own theme, so that text is readable on a dark and on a light
 * background.
 */
const CODES: Readonly<Record<Style, string>> = {
  bold: '1',
  dim: '2',
  italic: '3',
  strike: '9',
  heading: '1;36',
  code: '36',
  link: '4',
  call: '1',
  added: '32',
  removed: '31',
  error: '31',
  warning: '33',
  accent: '36',
};

const RESET = '\u001b[0m';

/**
 * Writes a line for a terminal. Text reaches the terminal only through here, so no control character of a model or a tool does. Pure.
 */
export function paintLine(line: Line, isColoured: boolean): string {
  return line
    .map(({ text, styles = [] }) => {
      const safe = terminalText(text).replaceAll(/[\n\t]/gu, ' ');
      if (!isColoured || styles.length === 0 || safe === '') return safe;
      return `\u001b[${[...new Set(styles)].map((style) => CODES[style]).join(';')}m${safe}${RESET}`;
    })
    .join('');
}

/**
 * True if a terminal shows colours: unless `NO_COLOR` is set, or `FORCE_COLOR` is `0` or `false`. Any other `FORCE_COLOR` overrides
 * `NO_COLOR`. Pure.
 */
export function wantsColour({ NO_COLOR: no, FORCE_COLOR: force }: NodeJS.ProcessEnv): boolean {
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  return no === undefined || no === '';
}

/** True if a terminal can move its cursor. One that cannot gets plain lines. Pure. */
export function canMoveCursor({ TERM: terminal }: NodeJS.ProcessEnv): boolean {
  return terminal !== 'dumb';
}
