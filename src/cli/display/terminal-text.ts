const ESC = '\u001b';
const BEL = '\u0007';
/** Ends a string sequence, in its one-byte form. */
const ST = '\u009c';
/** Colours, cursor movement, modes. */
const CONTROL_SEQUENCE = String.raw`(?:${ESC}\[|\u009b)[0-?]*[ -/]*[@-~]`;
/** OSC, DCS, SOS, PM and APC with what they carry: window titles, links, the clipboard. */
const STRING_SEQUENCE = String.raw`(?:${ESC}[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^${BEL}${ESC}${ST}]*(?:${BEL}|${ESC}\\|${ST})?`;
const SHORT_SEQUENCE = `${ESC}[ -/]*[0-~]`;
const SEQUENCE = new RegExp([CONTROL_SEQUENCE, STRING_SEQUENCE, SHORT_SEQUENCE].join('|'), 'gu');

/** What is left of control characters, and marks that reorder text on the screen. Line breaks and tabs stay. */
const CONTROL = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/**
 * Text of a model, a tool or a file made safe to print: no escape sequence reaches the terminal, be it for colours, the title or the
 * clipboard. A sequence cut off by the end of the text loses its control characters, so that text given piece by piece is safe too.
 */
export function terminalText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(SEQUENCE, '').replaceAll(CONTROL, '');
}

/** The same on one line, with white space run together. */
export function terminalLine(text: string): string {
  return terminalText(text).replaceAll(/\s+/gu, ' ').trim();
}

/** JSON that is safe to print too: JSON leaves the control characters above 0x7e as they are. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
