import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { STREAM_LIMITS } from '../contracts/constants/limits.js';
import { AppendFiles } from './append-files.js';
import type { StreamEvent, StreamSink } from './stream.js';

/** Options of `FileStreamSink`. */
export interface FileStreamSinkOptions {
  /** The folder of the stream files. Created if it is missing. */
  readonly folder: string;
  /** Called once per sink if a stream cannot be written. The run continues without it. */
  readonly onError?: (error: unknown) => void;
}

interface Pending {
  events: StreamEvent[];
  bytes: number;
  timer: NodeJS.Timeout | undefined;
  /** Resolves when all earlier batches are written, which keeps the order of events. */
  written: Promise<void>;
  /** False until the first batch is written. It starts with a newline, because an earlier writer may have died in the middle of a line. */
  started: boolean;
}

/**
 * Writes token streams to one append-only JSON Lines file per run, which any process can tail. Text that arrives within
 * `STREAM_LIMITS.coalesceMs` becomes one line. Files have mode 0600, because they contain model output.
 */
export class FileStreamSink implements StreamSink {
  readonly #folder: string;
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Map<string, Pending>();
  readonly #files = new AppendFiles();
  #folderMade: Promise<unknown> | undefined;
  #failed = false;

  constructor(options: FileStreamSinkOptions) {
    this.#folder = options.folder;
    this.#onError = options.onError ?? (() => undefined);
  }

  publish(event: StreamEvent): void {
    const pending = this.#of(event.runId);
    // a stalled disk must not fill the memory of the worker; the transcript contains the whole response
    if (pending.bytes > STREAM_LIMITS.bufferedBytesMax) return;
    pending.bytes += addEvent(pending.events, event);
    pending.timer ??= setTimeout(() => this.#write(event.runId, pending), STREAM_LIMITS.coalesceMs);
  }

  async flush(runId: string): Promise<void> {
    const pending = this.#pending.get(runId);
    if (!pending) return;
    this.#write(runId, pending);
    await pending.written;
    if (pending.events.length === 0 && this.#pending.get(runId) === pending) this.#pending.delete(runId);
  }

  #of(runId: string): Pending {
    const known = this.#pending.get(runId);
    if (known) return known;
    const pending: Pending = { events: [], bytes: 0, timer: undefined, written: Promise.resolve(), started: false };
    this.#pending.set(runId, pending);
    return pending;
  }

  #write(runId: string, pending: Pending): void {
    clearTimeout(pending.timer);
    pending.timer = undefined;
    if (pending.events.length === 0) return;
    const lines = pending.events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const text = pending.started ? lines : `\n${lines}`;
    const { bytes, written } = pending;
    pending.events = [];
    pending.started = true;
    pending.written = this.#writeAfter(written, { runId, text, done: () => (pending.bytes -= bytes) });
  }

  async #writeAfter(before: Promise<void>, batch: { runId: string; text: string; done: () => void }): Promise<void> {
    await before;
    await this.#append(batch.runId, batch.text);
    batch.done();
  }

  async #append(runId: string, text: string): Promise<void> {
    try {
      this.#folderMade ??= mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await this.#folderMade;
      await this.#files.append(streamFile(this.#folder, runId), text);
    } catch (error) {
      this.#folderMade = undefined;
      if (!this.#failed) this.#onError(error);
      this.#failed = true;
    }
  }
}

/** Adds an event, or appends its text to the last event. Returns the approximate number of bytes added. */
function addEvent(events: StreamEvent[], event: StreamEvent): number {
  const last = events.at(-1);
  if (isText(event) && last && isText(last) && last.type === event.type && last.turn === event.turn && last.attempt === event.attempt) {
    events[events.length - 1] = { ...event, text: last.text + event.text };
    return event.text.length;
  }
  events.push(event);
  return JSON.stringify(event).length;
}

function isText(event: StreamEvent): event is StreamEvent & { type: 'text' | 'thinking' } {
  return event.type === 'text' || event.type === 'thinking';
}

/**
 * The file of a run's token stream. A run ID that is not safe as a file name (`a/b`, `:`, capitals on a case-insensitive disk) gets a
 * name with a hash, so that two runs never share a file. Never throws.
 */
export function streamFile(folder: string, runId: string): string {
  if (/^[a-z0-9_][a-z0-9._-]{0,199}$/u.test(runId)) return join(folder, `${runId}.jsonl`);
  const readable = runId.replaceAll(/[^A-Za-z0-9._-]/gu, '_').replace(/^[.-]/u, '_');
  const hash = createHash('sha256').update(runId).digest('hex').slice(0, 16);
  return join(folder, `${readable.slice(0, 100)}~${hash}.jsonl`);
}
