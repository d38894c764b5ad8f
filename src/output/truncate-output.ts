import type { OutputBoundsInput } from '../contracts/activities.js';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';

/** How large an output was before anything was cut. */
export interface OutputSize {
  readonly bytes: number;
  readonly lines: number;
}

/** A text within its bounds. */
export interface TruncatedOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** What the footer says beside what is shown. */
export interface OutputOrigin {
  /** Of the whole output, where the text is already a part of it: its two ends. */
  readonly size?: OutputSize;
  /** Where the whole is; goes into the footer as it stands. */
  readonly whole?: string;
}

/** Bytes of the result that the cut mark and the footer may take, with a reference in it. */
const FOOTER_BYTES = 360;

/** So much of the end decides whether it looks important. */
const IMPORTANT_CHARS = 2_000;

/** What the end of a failed or a summing-up output says. */
const IMPORTANT = /(?:errors?|exceptions?)\b|\b(?:fail(?:ed|ures?|ing)?|fatal|panic|traceback|summary|totals?|results?|passed)\b/iu;

/** The bounds of a tool's output, complete: what the workflow gave, else the numbers of limits.ts; the room in characters has a floor. */
export function completeBounds(given?: OutputBoundsInput): OutputBoundsInput {
  if (given) return { ...given, charsMax: Math.max(given.charsMax, TOOL_LIMITS.outputCharsMin) };
  const { outputBytesMax, outputLinesMax } = TOOL_LIMITS;
  return { bytesMax: outputBytesMax, linesMax: outputLinesMax, charsMax: outputBytesMax, keep: 'auto' };
}

/** True for a text that the model reads whole. */
export function fitsBounds(text: string, { bytesMax, linesMax, charsMax, exact }: OutputBoundsInput): boolean {
  if (exact) return text.length <= exact.above;
  // a character has a byte at least, so that long texts need no counting
  if (text.length > Math.min(bytesMax, charsMax)) return false;
  const { bytes, lines } = measureOutput(text);
  return bytes <= bytesMax && lines <= linesMax;
}

/**
 * Cuts a text to its bounds, on line boundaries where there are any and never inside a character, and says how much there was, what is
 * shown and where the whole is. `exact` bounds are kept to the character, with the number of dropped ones in the middle. Pure; never throws.
 */
export function truncateOutput(text: string, bounds: OutputBoundsInput, { size, whole }: OutputOrigin = {}): TruncatedOutput {
  const isWhole = size === undefined || size.bytes <= Buffer.byteLength(text);
  if (isWhole && fitsBounds(text, bounds)) return { text, truncated: false };
  const cut: Cut = { text, size: size ?? measureOutput(text), isWhole, where: whole === undefined ? '' : `; ${whole}` };
  return { text: bounds.exact ? cutExactly(cut, bounds.exact) : cutOnLines(cut, bounds), truncated: true };
}

/** The size of a text: bytes of UTF-8, and lines as a person counts them (a last line without newline is one). */
export function measureOutput(text: string): OutputSize {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return { bytes: Buffer.byteLength(text), lines };
}

/** Bytes as a person reads them: `512 bytes`, `48.2 KiB`, `10.0 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  const kib = bytes / 1_024;
  return kib < 1_024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1_024).toFixed(1)} MiB`;
}

/** A text that must be cut. */
interface Cut {
  readonly text: string;
  readonly size: OutputSize;
  /** False when the text has lost its middle already. */
  readonly isWhole: boolean;
  /** The end of the footer. */
  readonly where: string;
}

/** Room for one end of a text. */
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
    // the cut mark and the footer are lines too
    lines: Math.max(1, bounds.linesMax - 2),
  };
  const [headShare, tailShare] = sharesOf(bounds.keep, text);
  const head = headOf(text, share(room, headShare));
  const tail = tailOf(text.slice(head.length), share(room, tailShare));
  return frame(head, tail, `[output cut: ${formatBytes(size.bytes)} in ${size.lines} lines; shown: ${shown(head, tail)}${where}]`);
}

/** With small bounds the text goes before the footer, which then stands outside of them. */
function lessFooter(max: number): number {
  return Math.max(max - FOOTER_BYTES, Math.floor(max / 2));
}

/** How the room is shared between beginning and end. */
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

/** An error, a summary or the closing of JSON at the end says little without the beginning. */
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
  // one line longer than the bound: part of it says more than nothing
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

/** The place itself, or the one before it where it lies inside a pair of surrogates. */
export function wholeBefore(text: string, at: number): number {
  return isInsidePair(text, at) ? at - 1 : at;
}

/** The place itself, or the one after it where it lies inside a pair of surrogates. */
function wholeFrom(text: string, at: number): number {
  return isInsidePair(text, at) ? at + 1 : at;
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/** Where the first `linesMax` lines end. */
function endOfLine(text: string, linesMax: number): number {
  let end = 0;
  for (let line = 0; line < linesMax; line += 1) {
    const next = text.indexOf('\n', end);
    if (next === -1) return text.length;
    end = next + 1;
  }
  return end;
}

/** Where the last `linesMax` lines start. */
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

/** Decodes bytes that may begin or end inside a character, without the torn ends. */
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
