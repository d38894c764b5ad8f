import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ChannelJournal } from './channel-journal.js';
import { lockJournal } from './journal-lock.js';
import { JournalRecord } from './journal-record.js';

/**
 * A journal in a file of JSON Lines, readable only by its owner. It is locked until `close`, or until its process ends: each method throws
 * `JOURNAL_IN_USE` (4) while another one is open at the same path.
 */
export class FileJournal implements ChannelJournal {
  readonly #path: string;
  readonly #onDamage: (line: string) => void;
  #lock: ReturnType<typeof lockJournal> | undefined;
  #file: FileHandle | undefined;
  #bytes = 0;
  /** The file may end in the middle of a line. */
  #isLineOpen = true;

  /** `onDamage`: called with a line that is no record. The end of a file may be cut by the death of its writer. */
  constructor(path: string, onDamage: (line: string) => void = () => undefined) {
    this.#path = path;
    this.#onDamage = onDamage;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async read(): Promise<readonly JournalRecord[]> {
    await this.#locked();
    const text = await readFile(this.#path, 'utf8').catch(ifMissing);
    this.#bytes = Buffer.byteLength(text);
    this.#isLineOpen = text !== '' && !text.endsWith('\n');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => this.#parse(line));
  }

  async append(record: JournalRecord): Promise<void> {
    const file = (this.#file ??= await this.#open());
    const line = `${this.#isLineOpen ? '\n' : ''}${JSON.stringify(record)}\n`;
    // a write that fails, such as on a full disk, leaves a part of its line
    this.#isLineOpen = true;
    this.#bytes += Buffer.byteLength(line);
    await file.appendFile(line);
    this.#isLineOpen = false;
    await file.datasync();
  }

  async replace(records: readonly JournalRecord[]): Promise<void> {
    await this.#locked();
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const next = `${this.#path}.new`;
    const file = await open(next, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#closeFile();
    await rename(next, this.#path);
    this.#bytes = Buffer.byteLength(text);
    this.#isLineOpen = false;
  }

  async close(): Promise<void> {
    await this.#closeFile();
    const lock = this.#lock;
    this.#lock = undefined;
    // without a lock, there is nothing to release
    await (await lock?.catch(() => undefined))?.release();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    await this.#locked();
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    return await open(this.#path, 'a', 0o600);
  }

  async #locked(): Promise<void> {
    this.#lock ??= lockJournal(this.#path);
    await this.#lock.catch((error: unknown) => {
      // the next call tries again
      this.#lock = undefined;
      throw error;
    });
  }

  #parse(line: string): JournalRecord[] {
    try {
      return [JournalRecord.parse(JSON.parse(line))];
    } catch {
      this.#onDamage(line.slice(0, 200));
      return [];
    }
  }
}

function ifMissing(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') throw error;
  return '';
}
