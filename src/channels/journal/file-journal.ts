import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ChannelJournal } from './channel-journal.js';
import { JournalRecord } from './journal-record.js';

/** A journal in a file of JSON Lines, readable only by its owner. */
export class FileJournal implements ChannelJournal {
  readonly #path: string;
  readonly #onDamage: (line: string) => void;
  #file: FileHandle | undefined;
  #bytes = 0;

  /** `onDamage`: called with a line that is no record. The end of a file may be cut by the death of its writer. */
  constructor(path: string, onDamage: (line: string) => void = () => undefined) {
    this.#path = path;
    this.#onDamage = onDamage;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async read(): Promise<readonly JournalRecord[]> {
    const text = await readFile(this.#path, 'utf8').catch(ifMissing);
    this.#bytes = Buffer.byteLength(text);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => this.#parse(line));
  }

  async append(record: JournalRecord): Promise<void> {
    const file = (this.#file ??= await this.#open());
    const line = `${JSON.stringify(record)}\n`;
    await file.appendFile(line);
    await file.datasync();
    this.#bytes += Buffer.byteLength(line);
  }

  async replace(records: readonly JournalRecord[]): Promise<void> {
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
    await this.close();
    await rename(next, this.#path);
    this.#bytes = Buffer.byteLength(text);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, 'a', 0o600);
    // an earlier writer may have died in the middle of a line
    if (this.#bytes > 0) await file.appendFile('\n');
    return file;
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
