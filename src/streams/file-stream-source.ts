import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { STREAM_LIMITS } from '../contracts/constants/limits.js';
import { unlessMissing } from '../contracts/files/file-errors.js';
import { AttemptOrder } from './attempt-order.js';
import { streamFile } from './file-stream-sink.js';
import { parseEvent } from './parse-event.js';
import type { StreamEntry, StreamSource } from './stream.js';

/**
 * Reads the file of a FileStreamSink in this or another process: past events, then new ones. Waits for a missing file. Skips a line
 * that was truncated by the death of its writer. Never throws for the content of the file.
 */
export class FileStreamSource implements StreamSource {
  readonly #folder: string;

  constructor(options: { readonly folder: string }) {
    this.#folder = options.folder;
  }

  async *read(runId: string, signal: AbortSignal, after?: string): AsyncGenerator<StreamEntry> {
    const path = streamFile(this.#folder, runId);
    const order = new AttemptOrder(after);
    let lines = new LineReader(offsetIn(order.position));
    while (true) {
      // one more read after the abort, for events flushed before it
      const last = signal.aborted;
      const chunk = await readFrom(path, lines.offset);
      if (chunk === undefined) {
        // the file was replaced: events that the reader has already are dropped by the order
        lines = new LineReader(0);
        continue;
      }
      for (const { text, end } of lines.push(chunk)) {
        const event = parseEvent(text, runId);
        if (event) yield* order.take(event, String(end));
      }
      if (chunk.length > 0) continue;
      if (last) return;
      await pause(signal);
    }
  }
}

function offsetIn(position: string | undefined): number {
  return /^\d{1,15}$/u.test(position ?? '') ? Number(position) : 0;
}

/** Splits bytes into lines. Keeps lines and characters that are split between two reads. */
class LineReader {
  #rest: Buffer = Buffer.alloc(0);
  #offset: number;

  constructor(offset: number) {
    this.#offset = offset;
  }

  /** The offset behind the bytes that were read. */
  get offset(): number {
    return this.#offset;
  }

  /** Returns the lines that are complete, each with the offset behind it. */
  push(chunk: Buffer): { readonly text: string; readonly end: number }[] {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const start = this.#offset - this.#rest.length;
    this.#offset += chunk.length;
    const found = [];
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE, at); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
      found.push({ text: bytes.toString('utf8', at, end), end: start + end + 1 });
      at = end + 1;
    }
    this.#rest = bytes.subarray(at);
    return found;
  }
}

const NEWLINE = 0x0a;

/** Reads the bytes after `offset`, at most one buffer. Empty if the file does not exist yet, undefined if it ends before the offset. */
async function readFrom(path: string, offset: number): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(unlessMissing);
  if (!file) return Buffer.alloc(0);
  try {
    const buffer = Buffer.alloc(STREAM_LIMITS.readBytes);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    if (bytesRead === 0 && (await file.stat()).size < offset) return undefined;
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(STREAM_LIMITS.coalesceMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
