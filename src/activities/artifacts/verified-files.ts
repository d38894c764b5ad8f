import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ArtifactError, refOfHash } from '../../artifacts/artifact-store.js';

/** As many files are remembered as a worker's runs page through at a time. */
const REMEMBERED_MAX = 1_000;

const PIECE_BYTES = 256 * 1_024;

/**
 * Checks files against the hash they are named by: the whole file the first time, and again only when it was changed since. Pages of a
 * large file are then read without reading all of it each time.
 */
export class VerifiedFiles {
  readonly #known = new Map<string, string>();

  /** Throws ArtifactError `BLOB_CORRUPT` when the content is not that of the hash. */
  async check(file: FileHandle, hash: string): Promise<void> {
    const { ino, size, mtimeMs, ctimeMs } = await file.stat();
    const state = [ino, size, mtimeMs, ctimeMs].join('/');
    if (this.#known.get(hash) === state) return;
    if ((await hashFile(file, size)) !== hash) throw new ArtifactError('BLOB_CORRUPT', `${refOfHash(hash)} was changed or cut`);
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
