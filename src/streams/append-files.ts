import { type FileHandle, open } from 'node:fs/promises';
import { STREAM_LIMITS } from '../contracts/constants/limits.js';

interface OpenFile {
  readonly handle: Promise<FileHandle>;
  /** The writes that have not ended. */
  writes: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Appends to files, and keeps them open between two writes: a token stream is written many times a second, and opening and closing cost
 * more than the write. A file is closed after `STREAM_LIMITS.idleFileMs` without a write, or when more than `STREAM_LIMITS.openFilesMax`
 * are open, the one with the oldest write first. Files are created with mode 0600.
 */
export class AppendFiles {
  /** The file with the oldest write first. */
  readonly #files = new Map<string, OpenFile>();

  /** The number of open files. */
  get size(): number {
    return this.#files.size;
  }

  /** True if the file is open, so that the last write to it succeeded. */
  isOpen(path: string): boolean {
    return this.#files.has(path);
  }

  /** Resolves when the text is written. Rejects when it could not be: the next call opens the file again. */
  async append(path: string, text: string): Promise<void> {
    const file = this.#open(path);
    file.writes += 1;
    clearTimeout(file.idle);
    try {
      await (await file.handle).appendFile(text);
    } catch (error) {
      this.#close(path, file);
      throw error;
    } finally {
      file.writes -= 1;
      if (file.writes === 0) this.#settle(path, file);
    }
  }

  #open(path: string): OpenFile {
    const file = this.#files.get(path) ?? { handle: open(path, 'a', 0o600), writes: 0, idle: undefined };
    this.#files.delete(path);
    this.#files.set(path, file);
    return file;
  }

  /** After a write: closes the file later, and another one now when there are too many. */
  #settle(path: string, file: OpenFile): void {
    // no reason to keep a process alive
    file.idle = setTimeout(() => this.#close(path, file), STREAM_LIMITS.idleFileMs).unref();
    if (this.#files.size <= STREAM_LIMITS.openFilesMax) return;
    for (const [oldest, other] of this.#files) {
      if (other.writes === 0) return this.#close(oldest, other);
    }
  }

  #close(path: string, file: OpenFile): void {
    clearTimeout(file.idle);
    if (this.#files.get(path) === file) this.#files.delete(path);
    // what could not be opened needs no close, and its write has rejected already
    void file.handle.then((handle) => handle.close()).catch(() => undefined);
  }
}
