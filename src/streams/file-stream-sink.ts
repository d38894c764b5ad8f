import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppendFiles } from './append-files.js';
import type { StreamEvent, StreamSink } from './stream.js';
import { StreamBuffer } from './stream-buffer.js';

/** Options of `FileStreamSink`. */
export interface FileStreamSinkOptions {
  /** The folder of the stream files. Created if it is missing. */
  readonly folder: string;
  /** Called once per sink if a stream cannot be written. The run continues without it. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Writes token streams to one append-only JSON Lines file per run, which any process can tail. Text that arrives within
 * `STREAM_LIMITS.coalesceMs` becomes one line. Files have mode 0600, because they contain model output. A slow disk costs events, never
 * memory or time of a run.
 */
export class FileStreamSink implements StreamSink {
  readonly #folder: string;
  readonly #onError: (error: unknown) => void;
  readonly #files = new AppendFiles();
  readonly #buffer: StreamBuffer;
  #folderMade: Promise<unknown> | undefined;
  #failed = false;

  constructor(options: FileStreamSinkOptions) {
    this.#folder = options.folder;
    this.#onError = options.onError ?? (() => undefined);
    this.#buffer = new StreamBuffer({
      write: (runId, events) => this.#append(runId, events),
      onError: (error) => this.#report(error),
    });
  }

  publish(event: StreamEvent): void {
    this.#buffer.publish(event);
  }

  async flush(runId: string): Promise<void> {
    await this.#buffer.flush(runId);
  }

  async #append(runId: string, events: readonly StreamEvent[]): Promise<void> {
    this.#folderMade ??= mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#folderMade;
    const path = streamFile(this.#folder, runId);
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    // an earlier writer may have died, or failed, in the middle of a line
    await this.#files.append(path, this.#files.isOpen(path) ? lines : `\n${lines}`);
  }

  #report(error: unknown): void {
    this.#folderMade = undefined;
    if (!this.#failed) this.#onError(error);
    this.#failed = true;
  }
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
