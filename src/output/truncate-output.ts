import type { OutputBoundsInput } from '../contracts/activities.js';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';

/** The size of an output before truncation. */
export interface OutputSize {
  readonly bytes: number;
  readonly lines: number;
}

/** A text within its bounds. */
export interface TruncatedOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** Data for the footer of a truncated text. */
export interface OutputOrigin {
  /** The size of the whole output, if the text contains only its two ends. */
  readonly size?: OutputSize;
  /** The location of the whole output, inserted into the footer unchanged. */
  readonly whole?: string;
}

/** Bytes reserved for the cut mark and for a footer with a reference. */
const FOOTER_BYTES = 360;

/** The length of the end that is searched for important content. */
const IMPORTANT_CHARS = 2_000;

/** Words at the end of an output that report an error or a summary. */
const IMPORTANT = /(?:errors?|exceptions?)\b|\b(?:fail(?:ed|ures?|ing)?|fatal|panic|traceback|summary|totals?|results?|passed)\b/iu;

/** Completes the bounds of a tool output: those of the workflow, else the defaults of limits.ts. `charsMax` has a minimum. */
export function completeBounds(given?: OutputBoundsInput): OutputBoundsInput {
  if (given) return { ...given, charsMax: Math.max(given.charsMax, TOOL_LIMITS.outputCharsMin) };
  const { outputBytesMax, outputLinesMax } = TOOL_LIMITS;
  return { bytesMax: outputBytesMax, linesMax: outputLinesMax, charsMax: outputBytesMax, keep: 'auto' };
}

/** True if a text fits the bounds without truncation. */
export function fitsBounds(text: string, { bytesMax, linesMax, charsMax, exact }: OutputBoundsInput): boolean {
  if (exact) return text.length <= exact.above;
  // each character has at least one byte, so a long text need not be measured
  if (text.length > Math.min(bytesMax, charsMax)) return false;
  const { bytes, lines } = measureOutput(text);
  return bytes <= bytesMax && lines <= linesMax;
}

/**
 * Truncates a text to its bounds, at line boundaries if possible and never inside a character. The footer contains the total size, the
 * shown parts and the location of the whole text. `exact` bounds are met to the character, with the number of dropped characters in the
 * middle. Pure; never throws.
 */
export function truncateOutput(text: string, bounds: OutputBoundsInput, { size, whole }: OutputOrigin = {}): TruncatedOutput {
  const isWhole = size === undefined || size.bytes <= Buffer.byteLength(text);
  if (isWhole && fitsBounds(text, bounds)) return { text, truncated: false };
  const cut: Cut = { text, size: size ?? measureOutput(text), isWhole, where: whole === undefined ? '' : `; ${whole}` };
  return { text: bounds.exact ? cutExactly(cut, bounds.exact) : cutOnLines(cut, bounds), truncated: true };
}

/** Measures a text: bytes in UTF-8, and lines. A last line without a newline counts as one. */
export function measureOutput(text: string): OutputSize {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return { bytes: Buffer.byteLength(text), lines };
}

/** Formats a number of bytes: `512 bytes`, `48.2 KiB`, `10.0 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  const kib = bytes / 1_024;
  return kib < 1_024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1_024).toFixed(1)} MiB`;
}

/** A text to truncate. */
interface Cut {
  readonly text: string;
  readonly size: OutputSize;
  /** False if the middle of the text is already dropped. */
  readonly isWhole: boolean;
  /** The end of the footer. */
  readonly where: string;
}

/** The space for one end of a text. */
interface Room {
  readonly bytes: number;
  readonly chars: number;
  readonly lines: number;
}

function cutExactly({ text, size, isWhole, where }: Cut, exact: { readonly head: number; readonly tail: number }): string {
  const head = text.slice(0, wholeBefore(text, exact.head));
  const tail = text.slice(wholeFrom(text, Math.max(head.length, text.length - exact.tail)));
  const dropped = isWhole
    ? `${text.length - head.length - tail.length} characters`
    : formatBytes(size.bytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
  return `${head}\n[… ${dropped} dropped; ${describe(size)} in all${where} …]\n${tail}`;
}

function cutOnLines({ text, size, where }: Cut, bounds: OutputBoundsInput): string {
  const room: Room = {
    bytes: lessFooter(bounds.bytesMax),
    chars: lessFooter(bounds.charsMax),
    // the cut mark and the footer take one line each
    lines: Math.max(1, bounds.linesMax - 2),
  };
  const [headShare, tailShare] = sharesOf(bounds.keep, text);
  const head = headOf(text, share(room, headShare));
  const tail = tailOf(text.slice(head.length), share(room, tailShare));
  return frame(head, tail, `[output cut: ${formatBytes(size.bytes)} in ${size.lines} lines; shown: ${shown(head, tail)}${where}]`);
}

/** Reserves space for the footer. With small bounds, half of the space stays for the text and the footer exceeds the bounds. */
function lessFooter(max: number): number {
  return Math.max(max - FOOTER_BYTES, Math.floor(max / 2));
}

/** The shares of the beginning and the end. */
function sharesOf(keep: OutputBoundsInput['keep'], text: string): readonly [head: number, tail: number] {
  switch (keep) {
    case 'head':
      return [1, 0];
    case 'tail':
      return [0, 1];
    case 'head-tail':
      return [0.5, 0.5];
    case 'auto':
      return looksImportant(text.slice(-IMPORTANT_CHARS)) ? [0.5, 0.5] : [0, 1];
  }
}

/** True if the end contains an error, a summary or the end of JSON. Such an output is shown with its beginning. */
function looksImportant(end: string): boolean {
  return /[}\]]\s*$/u.test(end) || IMPORTANT.test(end);
}

function share({ bytes, chars, lines }: Room, part: number): Room {
  return { bytes: Math.floor(bytes * part), chars: Math.floor(chars * part), lines: Math.floor(lines * part) };
}

function headOf(text: string, { bytes, chars, lines }: Room): string {
  const byChars = text.slice(0, wholeBefore(text, Math.min(bytes, chars)));
  const byBytes = decodeWhole(Buffer.from(byChars).subarray(0, bytes));
  const cut = byBytes.slice(0, endOfLine(byBytes, lines));
  if (cut.length === text.length) return text;
  const lastLine = cut.lastIndexOf('\n') + 1;
  // a single line longer than the bounds is cut
  return lastLine > 0 ? cut.slice(0, lastLine) : cut;
}

function tailOf(text: string, { bytes, chars, lines }: Room): string {
  const encoded = Buffer.from(text.slice(wholeFrom(text, Math.max(0, text.length - Math.min(bytes, chars)))));
  const byBytes = decodeWhole(encoded.subarray(Math.max(0, encoded.length - bytes)));
  const start = startOfLastLines(byBytes, lines);
  if (start > 0) return byBytes.slice(start);
  if (byBytes.length === text.length) return text;
  const firstLine = byBytes.indexOf('\n') + 1;
  return firstLine > 0 && firstLine < byBytes.length ? byBytes.slice(firstLine) : byBytes;
}

/** The index, or the index before it if it is inside a surrogate pair. */
export function wholeBefore(text: string, at: number): number {
  return isInsidePair(text, at) ? at - 1 : at;
}

/** The index, or the index after it if it is inside a surrogate pair. */
function wholeFrom(text: string, at: number): number {
  return isInsidePair(text, at) ? at + 1 : at;
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/** The end of the first `linesMax` lines. */
function endOfLine(text: string, linesMax: number): number {
  let end = 0;
  for (let line = 0; line < linesMax; line += 1) {
    const next = text.indexOf('\n', end);
    if (next === -1) return text.length;
    end = next + 1;
  }
  return end;
}

/** The start of the last `linesMax` lines. */
function startOfLastLines(text: string, linesMax: number): number {
  if (linesMax === 0) return text.length;
  let start = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let line = 0; line < linesMax; line += 1) {
    const previous = start === 0 ? -1 : text.lastIndexOf('\n', start - 1);
    if (previous === -1) return 0;
    start = previous;
  }
  return start + 1;
}

/** Decodes bytes that may start or end inside a character. Drops incomplete characters. */
export function decodeWhole(bytes: Buffer): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start), { stream: true });
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function shown(head: string, tail: string): string {
  const ends = [
    ...(head === '' ? [] : [`the first ${describe(measureOutput(head))}`]),
    ...(tail === '' ? [] : [`the last ${describe(measureOutput(tail))}`]),
  ];
  return ends.join(' and ') || 'nothing';
}

function describe({ bytes, lines }: OutputSize): string {
  return lines === 1 ? formatBytes(bytes) : `${lines} lines (${formatBytes(bytes)})`;
}

function frame(head: string, tail: string, footer: string): string {
  const mark = tail === '' ? '' : '[…]\n';
  return `${ended(head)}${mark}${ended(tail)}${footer}`;
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
