import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import type { OutputCollector } from '../../define/define-tool.js';
import { BoundedOutput } from '../../output/bounded-output.js';

/** Each file is named by the position of its first byte in the whole output. */
const PREFIX = 'out-';

const LINE_BYTES_MAX = 4 * 1_024;

/**
 * Writes an output of any length to a bounded number of files: its beginning, and its end. Memory use is constant. An error of the disk
 * ends the writing, not the command.
 */
export class OutputFiles implements OutputCollector {
  /** What failed, such as a full disk. */
  problem: string | undefined;
  readonly #folder: string;
  readonly #ends = new BoundedOutput(LINE_BYTES_MAX);
  #file: FileHandle | undefined;
  #written = 0;
  #room: number = BACKGROUND_LIMITS.headBytes;
  #writing: Promise<void> = Promise.resolve();
  readonly #segments: string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  get bytes(): number {
    return this.#ends.bytes;
  }

  write(piece: Uint8Array): Promise<void> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    this.#ends.append(bytes);
    this.#writing = this.#writing.then(() => this.#append(bytes));
    return this.#writing;
  }

  lastLine(): string {
    return this.#ends.lastLine();
  }

  async finish(): Promise<string> {
    await this.#writing;
    await this.#file?.close();
    return '';
  }

  async #append(piece: Buffer): Promise<void> {
    if (this.problem !== undefined) return;
    try {
      for (let rest = piece; rest.length > 0; ) {
        if (!this.#file || this.#room === 0) await this.#next();
        const part = rest.subarray(0, this.#room);
        await this.#file?.appendFile(part);
        this.#written += part.length;
        this.#room -= part.length;
        rest = rest.subarray(part.length);
      }
    } catch (error) {
      this.problem = `the output could not be written any more: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Opens the next file, and removes the oldest one behind the beginning. */
  async #next(): Promise<void> {
    await this.#file?.close();
    const path = join(this.#folder, `${PREFIX}${this.#written}`);
    this.#file = await open(path, 'wx', 0o600);
    if (this.#written === 0) return;
    this.#room = BACKGROUND_LIMITS.segmentBytes;
    this.#segments.push(path);
    const oldest = this.#segments.length > BACKGROUND_LIMITS.segmentsMax ? this.#segments.shift() : undefined;
    if (oldest !== undefined) await rm(oldest, { force: true });
  }
}

/** A part of an output. */
export interface OutputPart {
  readonly bytes: Buffer;
  /** The position of its first byte. */
  readonly from: number;
  /** The size of the whole output so far. */
  readonly total: number;
  /** Bytes before `from` that were asked for, and that are gone. */
  readonly dropped: number;
}

interface Segment {
  readonly path: string;
  readonly from: number;
  readonly size: number;
}

/** Reads at most `bytesMax` bytes from a position, or the end of the output without a position. Never rejects for a missing file. */
export async function readOutput(folder: string, { from, bytesMax }: { from?: number | undefined; bytesMax: number }): Promise<OutputPart> {
  const segments = await segmentsOf(folder);
  const total = sizeOf(segments);
  const start = Math.min(from ?? Math.max(0, total - bytesMax), total);
  const first = segments.find((segment) => segment.from + segment.size > start);
  const begin = Math.max(start, first?.from ?? start);
  const pieces: Buffer[] = [];
  for (let position = begin; position < begin + bytesMax; ) {
    const segment = segments.find((each) => each.from <= position && position < each.from + each.size);
    const piece = segment && (await readPart(segment, position, begin + bytesMax - position));
    if (!piece || piece.length === 0) break;
    pieces.push(piece);
    position += piece.length;
  }
  return { bytes: Buffer.concat(pieces), from: begin, total, dropped: begin - start };
}

/** The size of an output so far. */
export async function outputSize(folder: string): Promise<number> {
  return sizeOf(await segmentsOf(folder));
}

function sizeOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.from + last.size : 0;
}

async function segmentsOf(folder: string): Promise<readonly Segment[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name): Promise<readonly Segment[]> => {
      if (!name.startsWith(PREFIX)) return [];
      const path = join(folder, name);
      // the holder removes old ones meanwhile
      const stats = await stat(path).catch(() => undefined);
      return stats ? [{ path, from: Number(name.slice(PREFIX.length)), size: stats.size }] : [];
    }),
  );
  return found.flat().toSorted((a, b) => a.from - b.from);
}

async function readPart({ path, from, size }: Segment, position: number, bytesMax: number): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return undefined;
  try {
    const length = Math.min(bytesMax, from + size - position);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position - from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
