import { visibleText } from '../../contracts/text/sanitize-text.js';

const ESC = '\u001b';
const BEL = '\u0007';
/** Ends a string sequence, in its one-byte form. */
const ST = '\u009c';
/** Colours, cursor movement, modes. */
const CONTROL_SEQUENCE = String.raw`(?:${ESC}\[|\u009b)[0-?]*[ -/]*[@-~]`;
/** Begins a string sequence, in its one-byte form: DCS, SOS, OSC, PM, APC. */
const STRING_START = '\u0090\u0098\u009d\u009e\u009f';
/** OSC, DCS, SOS, PM and APC with their content: window titles, links, the clipboard. One has an end on its line, or it is none. */
const STRING_SEQUENCE = String.raw`(?:${ESC}[\]PX^_]|[${STRING_START}])[^\n${BEL}${ESC}${ST}${STRING_START}]*(?:${BEL}|${ESC}\\|${ST})`;
/** Two characters, or more with others in between. A string or control sequence without an end is none. */
const SHORT_SEQUENCE = String.raw`${ESC}(?:[ -/]+[0-~]|[0-OQ-WYZ\\\x60a-~])`;
const SEQUENCE = new RegExp([CONTROL_SEQUENCE, STRING_SEQUENCE, SHORT_SEQUENCE].join('|'), 'gu');

/** What begins a sequence and is left: the sequence has no end. */
const UNENDED = new RegExp(`[${ESC}\u009b${STRING_START}]`, 'gu');

/** Other control characters, and marks that reorder text. Line breaks and tabs are kept. */
const CONTROL = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/**
 * Makes text of a model, a tool or a file safe to print: removes all escape sequences. One without an end hides no text: its escape
 * character is written out, as `\u001b`, and what follows is shown. This also holds for streamed pieces.
 */
export function terminalText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(SEQUENCE, '').replaceAll(UNENDED, visibleText).replaceAll(CONTROL, '');
}

/** Like `terminalText`, on one line, with white space collapsed. */
export function terminalLine(text: string): string {
  return terminalText(text).replaceAll(/\s+/gu, ' ').trim();
}

/** JSON that is safe to print: `JSON.stringify` does not escape control characters above 0x7e. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
