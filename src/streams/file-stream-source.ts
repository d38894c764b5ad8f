import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { STREAM_LIMITS } from '../contracts/constants/limits.js';
import { streamFile } from './file-stream-sink.js';
import type { StreamEvent, StreamSource } from './stream.js';

/**
 * Reads the file of a FileStreamSink in this or another process: past events, then new ones. Waits for a missing file. Skips a line
 * that was truncated by the death of its writer. Never throws for the content of the file.
 */
export class FileStreamSource implements StreamSource {
  readonly #folder: string;

  constructor(options: { readonly folder: string }) {
    this.#folder = options.folder;
  }

  async *read(runId: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const path = streamFile(this.#folder, runId);
    const lines = new LineReader();
    let offset = 0;
    while (true) {
      // one more read after the abort, for events flushed before it
      const last = signal.aborted;
      const chunk = await readFrom(path, offset);
      offset += chunk.length;
      for (const line of lines.push(chunk)) {
        const event = parseEvent(line, runId);
        if (event) yield event;
      }
      if (chunk.length > 0) continue;
      if (last) return;
      await pause(signal);
    }
  }
}

/** Splits bytes into lines. Keeps lines and characters that are split between two reads. */
class LineReader {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): string[] {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.#rest = bytes.subarray(end);
    return end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n');
  }
}

const NEWLINE = 0x0a;

/** Reads the bytes after `offset`, at most one buffer. Empty if the file does not exist yet. */
async function readFrom(path: string, offset: number): Promise<Buffer> {
  const file = await open(path, 'r').catch(missing);
  if (!file) return Buffer.alloc(0);
  try {
    const buffer = Buffer.alloc(STREAM_LIMITS.readBytes);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(STREAM_LIMITS.coalesceMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

function parseEvent(line: string, runId: string): StreamEvent | undefined {
  if (line === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) && value.runId === runId ? value : undefined;
  } catch {
    // a truncated line: its writer was killed, and the next writer started a new line
    return undefined;
  }
}

function isEvent(value: unknown): value is StreamEvent {
  return typeof value === 'object' && value !== null && 'runId' in value && 'turn' in value && 'attempt' in value && 'type' in value;
}
