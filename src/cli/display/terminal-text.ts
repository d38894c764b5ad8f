const ESC = '\u001b';
const BEL = '\u0007';
/** Ends a string sequence, in its one-byte form. */
const ST = '\u009c';
/** Colours, cursor movement, modes. */
const CONTROL_SEQUENCE = String.raw`(?:${ESC}\[|\u009b)[0-?]*[ -/]*[@-~]`;
/** OSC, DCS, SOS, PM and APC with their content: window titles, links, the clipboard. */
const STRING_SEQUENCE = String.raw`(?:${ESC}[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^${BEL}${ESC}${ST}]*(?:${BEL}|${ESC}\\|${ST})?`;
const SHORT_SEQUENCE = `${ESC}[ -/]*[0-~]`;
const SEQUENCE = new RegExp([CONTROL_SEQUENCE, STRING_SEQUENCE, SHORT_SEQUENCE].join('|'), 'gu');

/** Other control characters, and marks that reorder text. Line breaks and tabs are kept. */
const CONTROL = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/**
 * Makes text of a model, a tool or a file safe to print: removes all escape sequences. A sequence that is cut off at the end of the
 * text loses its control characters, so that streamed pieces are safe too.
 */
export function terminalText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(SEQUENCE, '').replaceAll(CONTROL, '');
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
