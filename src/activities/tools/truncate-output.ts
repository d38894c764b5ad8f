/** Which part of an output is worth keeping: the beginning (a file), the end (a log), or both (a command). */
type KeptPart = 'head' | 'tail' | 'head-tail';

/** Bounds of a text a model reads. */
export interface OutputBounds {
  /** Bytes of UTF-8 of the whole result, its footer included. */
  readonly bytesMax: number;
  readonly linesMax: number;
  readonly keep: KeptPart;
}

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

/** Bytes of the result that the cut mark and the footer may take. */
const FOOTER_BYTES = 240;

/** How the room is shared between beginning and end. */
const SHARES: Readonly<Record<KeptPart, readonly [head: number, tail: number]>> = { head: [1, 0], tail: [0, 1], 'head-tail': [0.5, 0.5] };

/**
 * Cuts a text to its bounds, on line boundaries where there are any, and says at its end how much there was and what is shown.
 * `size` is what the output measured when the text is already a part of it. Pure; never throws.
 */
export function truncateOutput(text: string, bounds: OutputBounds, size: OutputSize = measureOutput(text)): TruncatedOutput {
  const whole = measureOutput(text);
  if (size.bytes <= whole.bytes && whole.bytes <= bounds.bytesMax && whole.lines <= bounds.linesMax) return { text, truncated: false };
  const bytes = Math.max(0, bounds.bytesMax - FOOTER_BYTES);
  // the cut mark and the footer are lines too
  const lines = Math.max(1, bounds.linesMax - 2);
  const [headShare, tailShare] = SHARES[bounds.keep];
  const head = headOf(text, Math.floor(bytes * headShare), Math.floor(lines * headShare));
  const tail = tailOf(text.slice(head.length), Math.floor(bytes * tailShare), Math.floor(lines * tailShare));
  return { text: frame(head, tail, size), truncated: true };
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

function headOf(text: string, bytesMax: number, linesMax: number): string {
  const byBytes = decodeWhole(Buffer.from(text.slice(0, bytesMax)).subarray(0, bytesMax));
  const end = endOfLine(byBytes, linesMax);
  const cut = byBytes.slice(0, end);
  if (cut.length === text.length) return text;
  const lastLine = cut.lastIndexOf('\n') + 1;
  // one line longer than the bound: part of it says more than nothing
  return lastLine > 0 ? cut.slice(0, lastLine) : cut;
}

function tailOf(text: string, bytesMax: number, linesMax: number): string {
  const bytes = Buffer.from(text.slice(Math.max(0, text.length - bytesMax)));
  const byBytes = decodeWhole(bytes.subarray(Math.max(0, bytes.length - bytesMax)));
  const start = startOfLastLines(byBytes, linesMax);
  if (start > 0) return byBytes.slice(start);
  if (byBytes.length === text.length) return text;
  const firstLine = byBytes.indexOf('\n') + 1;
  return firstLine > 0 && firstLine < byBytes.length ? byBytes.slice(firstLine) : byBytes;
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
function decodeWhole(bytes: Buffer): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start), { stream: true });
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function frame(head: string, tail: string, size: OutputSize): string {
  const shown = [...(head === '' ? [] : [`the first ${describe(head)}`]), ...(tail === '' ? [] : [`the last ${describe(tail)}`])].join(
    ' and ',
  );
  const footer = `[output cut: ${formatBytes(size.bytes)} in ${size.lines} lines; shown: ${shown || 'nothing'}]`;
  const mark = tail === '' ? '' : '[…]\n';
  return `${ended(head)}${mark}${ended(tail)}${footer}`;
}

function describe(part: string): string {
  const { bytes, lines } = measureOutput(part);
  return lines === 1 ? formatBytes(bytes) : `${lines} lines (${formatBytes(bytes)})`;
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
