import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ARTIFACT_LIMITS } from '../contracts/constants/limits.js';
import {
  ArtifactError,
  type ArtifactPage,
  type ArtifactStore,
  type ArtifactWriter,
  hashOfRef,
  type KeptArtifact,
  refOfHash,
} from './artifact-store.js';
import { renameDurably } from './durable-file.js';

/**
 * Stores artifacts as files, mode 0600 in 0700 folders, for one machine or for workers that share the folder. A file gets its final
 * name only after it is complete and synced. The first write of a process removes unfinished files of killed writers.
 */
export class FileArtifactStore implements ArtifactStore {
  readonly #folder: string;
  readonly #verified = new VerifiedFiles();
  #swept: Promise<void> | undefined;

  /** The first write creates the folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  put(): ArtifactWriter {
    return new FileArtifactWriter(this.#folder, () => this.#openFolder());
  }

  async read(ref: string, { offset, bytes }: { readonly offset: number; readonly bytes: number }): Promise<ArtifactPage> {
    const hash = hashOfRef(ref);
    const file = await open(pathOf(this.#folder, hash), 'r').catch((cause: unknown) => {
      if (codeOf(cause) === 'ENOENT') throw new ArtifactError('BLOB_MISSING', `${ref} is not in the store`, { cause });
      // the artifact may exist: other errors are, for example, too many open files or a failing disk
      throw new ArtifactError('STORE_FAILED', `${ref} could not be opened (${codeOf(cause)})`, { cause });
    });
    try {
      await this.#verified.check(file, hash);
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.max(0, Math.min(bytes, size - offset)));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
      return { bytes: buffer.subarray(0, bytesRead), size };
    } catch (error) {
      if (error instanceof ArtifactError) throw error;
      throw new ArtifactError('STORE_FAILED', `${ref} could not be read (${codeOf(error)})`, { cause: error });
    } finally {
      await file.close();
    }
  }

  async #openFolder(): Promise<void> {
    await mkdir(unfinishedFolder(this.#folder), { recursive: true, mode: 0o700 });
    // a failed sweep does not prevent the write
    this.#swept ??= sweepUnfinished(unfinishedFolder(this.#folder)).catch(ignoreError);
    await this.#swept;
  }
}

class FileArtifactWriter implements ArtifactWriter {
  readonly #folder: string;
  readonly #path: string;
  readonly #opened: Promise<FileHandle>;
  readonly #hash = createHash('sha256');
  readonly #alive: NodeJS.Timeout;
  #bytes = 0;
  #unsynced = 0;
  #ended = false;

  constructor(folder: string, openFolder: () => Promise<void>) {
    this.#folder = folder;
    this.#path = join(unfinishedFolder(folder), randomUUID());
    this.#opened = openFolder().then(() => open(this.#path, 'wx', 0o600));
    // `write` and `finish` report the error
    this.#opened.catch(ignoreError);
    // touches the file, so that a sweep does not remove it while a command prints nothing for a long time
    this.#alive = setInterval(() => void touch(this.#path), ARTIFACT_LIMITS.staleWriteMs / 5).unref();
  }

  async write(piece: Uint8Array): Promise<void> {
    const file = await this.#opened;
    await file.writeFile(piece);
    this.#hash.update(piece);
    this.#bytes += piece.length;
    this.#unsynced += piece.length;
    // syncs in steps, so that the final sync of a large output is short
    if (this.#unsynced < ARTIFACT_LIMITS.syncEveryBytes) return;
    this.#unsynced = 0;
    await file.datasync();
  }

  async finish(): Promise<KeptArtifact> {
    await this.#close();
    const hash = this.#hash.digest('hex');
    const path = pathOf(this.#folder, hash);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // replaces an existing file, which has the same content or is damaged
    await renameDurably(this.#path, path);
    return { ref: refOfHash(hash), bytes: this.#bytes };
  }

  async discard(): Promise<void> {
    try {
      await this.#close();
      await rm(this.#path, { force: true });
    } catch (error) {
      // a later sweep removes the file
      ignoreError(error);
    }
  }

  async #close(): Promise<void> {
    clearInterval(this.#alive);
    if (this.#ended) return;
    this.#ended = true;
    await (await this.#opened).close();
  }
}

/** Removes unfinished files without a touch for ten minutes. Their writers were killed. */
async function sweepUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // another process may sweep, or the writer may finish, at the same time
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ARTIFACT_LIMITS.staleWriteMs) await rm(path, { force: true });
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // the file may just have been finished or discarded
  await utimes(path, now, now).catch(ignoreError);
}

function unfinishedFolder(folder: string): string {
  return join(folder, 'unfinished');
}

function pathOf(folder: string, hash: string): string {
  return join(folder, hash.slice(0, 2), hash);
}

/** The system code of an error. Its message may contain a path, which must not be shown. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Ignores an error that is reported elsewhere or has no effect. */
function ignoreError(_error: unknown): void {}

/** The number of verified files to remember: about as many as the runs of a worker read at the same time. */
const REMEMBERED_MAX = 1_000;

const PIECE_BYTES = 256 * 1_024;

/**
 * Verifies files against their hash: the whole file the first time, and again only if it has changed. Later pages of a large file then
 * do not need another full read.
 */
class VerifiedFiles {
  readonly #known = new Map<string, string>();

  /** Throws ArtifactError `BLOB_CORRUPT` if the content does not match the hash. */
  async check(file: FileHandle, hash: string): Promise<void> {
    const { ino, size, mtimeMs, ctimeMs } = await file.stat();
    const state = [ino, size, mtimeMs, ctimeMs].join('/');
    if (this.#known.get(hash) === state) return;
    if ((await hashFile(file, size)) !== hash) throw new ArtifactError('BLOB_CORRUPT', `${refOfHash(hash)} was changed or truncated`);
    this.#known.set(hash, state);
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}

async function hashFile(file: FileHandle, size: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(Math.min(PIECE_BYTES, size));
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest('hex');
}
