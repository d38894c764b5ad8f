import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LOSS_LIMITS } from '../../contracts/constants/limits.js';
import { codeOf } from '../../contracts/files/file-errors.js';

const SUFFIX = '.json';

/** A file of the folder, with its size and its time of writing in milliseconds since 1970. */
interface KnownFile {
  readonly bytes: number;
  readonly at: number;
}

/**
 * Small JSON files in one folder, mode 0600 in a 0700 folder. A file gets its name only after it is complete and synced. Their number,
 * size and age are bounded: the oldest go first. Several processes may share the folder.
 */
export class ResultFiles {
  readonly #folder: string;
  /** The files that this process knows of: those at its start, and its own. */
  readonly #known = new Map<string, KnownFile>();
  #opened: Promise<void> | undefined;

  /** The first use creates the folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes a value durably. Rejects with the error of the file system. */
  async write(name: string, value: unknown): Promise<void> {
    await this.#open();
    const content = Buffer.from(JSON.stringify(value));
    const unfinished = join(this.#folder, `.${randomUUID()}`);
    try {
      await writeSynced(unfinished, content);
      await rename(unfinished, this.#pathOf(name));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await syncFolder(this.#folder);
    this.#known.set(name, { bytes: content.length, at: Date.now() });
    await this.#prune();
  }

  /** The value of a file; undefined if there is none, if it is too old, or if it is damaged. Rejects with other errors of the file system. */
  async read(name: string): Promise<unknown> {
    const path = this.#pathOf(name);
    try {
      // almost always there is none, and a promise that rejects costs more CPU time than the look
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found || Date.now() - found.mtimeMs > LOSS_LIMITS.resultsKeptMs) return undefined;
      return JSON.parse(await readFile(path, 'utf8'));
    } catch (error) {
      if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Removes the files that this process knows of and that `matches` selects. Never rejects: a file that stays is removed by age. */
  async remove(matches: (name: string) => boolean): Promise<void> {
    await this.#open().catch(ignoreError);
    for (const name of [...this.#known.keys()].filter(matches)) await this.#remove(name);
  }

  /** Removes a file, whichever process wrote it. Never rejects. */
  async removeOne(name: string): Promise<void> {
    await this.#remove(name);
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}${SUFFIX}`);
  }

  async #open(): Promise<void> {
    this.#opened ??= this.#list();
    try {
      await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  /** Notes the files of earlier processes, so that they count towards the bounds. */
  async #list(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(this.#folder)) {
      const found = await stat(join(this.#folder, entry)).catch(ignoreError);
      if (!found) continue;
      if (entry.endsWith(SUFFIX)) this.#known.set(entry.slice(0, -SUFFIX.length), { bytes: found.size, at: found.mtimeMs });
      // an unfinished file of a killed process
      else if (Date.now() - found.mtimeMs > LOSS_LIMITS.resultsKeptMs) await rm(join(this.#folder, entry), { force: true });
    }
  }

  async #prune(): Promise<void> {
    const oldestFirst = [...this.#known].toSorted(([, a], [, b]) => a.at - b.at);
    let bytes = oldestFirst.reduce((sum, [, file]) => sum + file.bytes, 0);
    let count = oldestFirst.length;
    for (const [name, file] of oldestFirst) {
      const isOld = Date.now() - file.at > LOSS_LIMITS.resultsKeptMs;
      if (!isOld && bytes <= LOSS_LIMITS.resultsDiskBytesMax && count <= LOSS_LIMITS.resultsKeptMax) return;
      await this.#remove(name);
      bytes -= file.bytes;
      count -= 1;
    }
  }

  async #remove(name: string): Promise<void> {
    this.#known.delete(name);
    await rm(this.#pathOf(name), { force: true }).catch(ignoreError);
  }
}

async function writeSynced(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } finally {
    await handle?.close();
  }
}

/** For errors after which the file is found again later. */
function ignoreError(): undefined {
  return undefined;
}
