import { createHash } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Payload } from '@temporalio/common';
import { writeFileDurably } from '../../artifacts/durable-file.js';

/** No blob has this reference in a store that can be read. */
class MissingBlobError extends Error {
  override readonly name = 'MissingBlobError';
}

/** The reference of a blob: its sha256 in hex. */
export type BlobRef = string;

/**
 * Stores large payloads as files that are named by the hash of their content, mode 0600 in 0700 folders. Storing the same bytes again
 * is cheap, because the SDK stores outgoing payloads again on each replay.
 */
export class BlobStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores bytes durably and returns their reference. Replaces an existing file of a different size. */
  async put(bytes: Uint8Array): Promise<BlobRef> {
    const ref = createHash('sha256').update(bytes).digest('hex');
    const path = this.#pathOf(ref);
    const existing = await stat(path).catch(undefinedIfMissing);
    if (existing?.size === bytes.length) return ref;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileDurably(path, bytes);
    return ref;
  }

  /**
   * Reads the bytes of a reference. Throws `BLOB_MISSING` or `BLOB_CORRUPT` with the reference; a MissingBlobError when there is no such
   * blob, and another error when that is not certain, such as without the folder. Never returns partial bytes.
   */
  async get(ref: BlobRef): Promise<Uint8Array> {
    const path = this.#pathOf(ref);
    const bytes = await readFile(path).catch(async (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT' && (await this.#exists());
      const message = `BLOB_MISSING ${ref}: the stored payload is missing or unreadable`;
      throw isMissing ? new MissingBlobError(message, { cause: error }) : new Error(message, { cause: error });
    });
    if (createHash('sha256').update(bytes).digest('hex') !== ref)
      throw new Error(`BLOB_CORRUPT ${ref}: the stored payload was changed or truncated`);
    return bytes;
  }

  /** False for a folder that is not mounted, and for one without any blob yet. */
  async #exists(): Promise<boolean> {
    return await stat(join(this.#folder, 'blobs')).then(
      () => true,
      () => false,
    );
  }

  #pathOf(ref: BlobRef): string {
    // a reference comes from a payload, so only a valid hash may become a path
    if (!/^[0-9a-f]{64}$/u.test(ref)) throw new Error(`BLOB_CORRUPT ${JSON.stringify(ref.slice(0, 80))}: not a valid reference`);
    return join(this.#folder, 'blobs', ref.slice(0, 2), ref);
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Returns the payload that `read` returns. One whose blob is missing becomes a payload that cannot be decoded, and whose encoding says why:
 * a message from a client with another folder is refused then. Thrown, the error would fail the workflow task for ever.
 */
export async function unlessMissing(read: () => Promise<Payload>): Promise<Payload> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof MissingBlobError)) throw error;
    return { metadata: { encoding: new TextEncoder().encode(error.message) } };
  }
}
