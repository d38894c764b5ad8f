import { StringDecoder } from 'node:string_decoder';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { formatBytes } from '../../output/truncate-output.js';
import { type Jail, openFile } from './jail.js';
import { asWorkspaceError, shown, WorkspaceError } from './workspace-error.js';

/** The lines of a file to read. */
export interface LineWindow {
  /** The first line, counted from 1. */
  readonly offset: number;
  readonly limit: number;
  /** The size limit. A longer single line is cut. */
  readonly bytesMax: number;
}

/** Lines of a file. */
export interface ReadLines {
  /** The requested lines with their line ends. */
  readonly text: string;
  /** The number of the last complete line in `text`; offset − 1 if there is none. */
  readonly last: number;
  /** The number of lines of the file. Absent if reading stopped before its end. */
  readonly total?: number;
  /** True if the first requested line alone exceeds the size limit and was cut. */
  readonly lineCut: boolean;
}

/** Reads a window of lines from chunks of UTF-8. Memory use is bounded by the window. Stops reading when the window is full. */
export async function readLines(chunks: AsyncIterable<Buffer>, window: LineWindow): Promise<ReadLines> {
  const decoder = new StringDecoder('utf8');
  const kept = new KeptLines(window);
  for await (const chunk of chunks) {
    kept.append(decoder.write(chunk));
    if (kept.full) return kept.result();
  }
  kept.append(decoder.end());
  return kept.result(kept.lines);
}

class KeptLines {
  /** The number of lines started so far. */
  lines = 0;
  full = false;
  private text = '';
  private bytes = 0;
  private last: number;
  private lineCut = false;
  private inLine = false;
  private readonly window: LineWindow;

  constructor(window: LineWindow) {
    this.window = window;
    this.last = window.offset - 1;
  }

  append(text: string): void {
    for (let start = 0; start < text.length && !this.full; ) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? text.length : newline + 1;
      this.appendPiece(text.slice(start, end));
      start = end;
    }
  }

  result(total?: number): ReadLines {
    if (this.inLine && !this.full && this.wanted) this.last = this.lines;
    const text = this.lineCut ? this.text : this.wholeLines();
    return { text, last: this.last, lineCut: this.lineCut, ...(total === undefined || this.full ? {} : { total }) };
  }

  private get wanted(): boolean {
    return this.lines >= this.window.offset;
  }

  /** Appends a line or a part of a line. */
  private appendPiece(piece: string): void {
    if (!this.inLine) this.lines += 1;
    this.inLine = !piece.endsWith('\n');
    if (!this.wanted) return;
    if (this.lines >= this.window.offset + this.window.limit) {
      this.full = true;
      return;
    }
    const bytes = Buffer.byteLength(piece);
    if (this.bytes + bytes > this.window.bytesMax) {
      this.stopAt(piece);
      return;
    }
    this.text += piece;
    this.bytes += bytes;
    if (!this.inLine) this.last = this.lines;
  }

  private stopAt(piece: string): void {
    this.full = true;
    if (this.last >= this.window.offset) return;
    this.lineCut = true;
    const room = Buffer.from(piece).subarray(0, this.window.bytesMax - this.bytes);
    this.text += new StringDecoder('utf8').write(room);
  }

  /** The text without an incomplete last line. */
  private wholeLines(): string {
    return this.full && !this.text.endsWith('\n') ? this.text.slice(0, this.text.lastIndexOf('\n') + 1) : this.text;
  }
}

/** A NUL byte within this many bytes marks a file as binary, as in git. */
export const BINARY_PROBE_BYTES = 8_000;

/** True if the bytes are the beginning of a binary file. */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Reads the whole text of a file in the workspace, unchanged. Throws WorkspaceError: TOO_LARGE, NOT_TEXT (also for invalid UTF-8), and those of the jail. */
export async function readText(jail: Jail, path: string): Promise<string> {
  const handle = await openFile(jail, path);
  try {
    const { size } = await handle.stat();
    if (size > WORKSPACE_LIMITS.fileBytesMax)
      throw new WorkspaceError('TOO_LARGE', `${shown(path)} has ${formatBytes(size)}, which is too large for this tool; use run_command`);
    const bytes = await handle.readFile();
    if (looksBinary(bytes)) throw new WorkspaceError('NOT_TEXT', `${shown(path)} is a binary file`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new WorkspaceError('NOT_TEXT', `${shown(path)} is not UTF-8 text`, { cause: error });
    throw asWorkspaceError(error, path);
  } finally {
    await handle.close();
  }
}
