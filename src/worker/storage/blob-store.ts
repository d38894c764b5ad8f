import { createHash } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Payload } from '@temporalio/common';
import { writeFileDurably } from '../../artifacts/durable-file.js';
import { STORE_ID_NAME } from '../../artifacts/store-id.js';
import { unlessMissing } from '../../contracts/files/file-errors.js';

/** No blob has this reference in a store that can be read. */
export class MissingBlobError extends Error {
  override readonly name = 'MissingBlobError';
}

/** The reference of a blob: its sha256 in hex. */
export type BlobRef = string;

/**
 * Stores large payloads, named by the hash of their content.
 *
 * Contract: both methods may run concurrently, also in other processes. Storing the same bytes again is cheap, because the SDK stores
 * outgoing payloads again on each replay.
 */
export interface BlobStore {
  /** Stores bytes durably and returns their reference. */
  put(bytes: Uint8Array): Promise<BlobRef>;
  /**
   * Reads the bytes of a reference. Throws `BLOB_MISSING` or `BLOB_CORRUPT` with the reference; a MissingBlobError when there is no such
   * blob, and another error when that is not certain, such as without the folder. Never returns partial bytes.
   */
  get(ref: BlobRef): Promise<Uint8Array>;
}

/** Stores blobs as files, mode 0600 in 0700 folders. */
export class FileBlobStore implements BlobStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Replaces an existing file of a different size. */
  async put(bytes: Uint8Array): Promise<BlobRef> {
    const ref = createHash('sha256').update(bytes).digest('hex');
    const path = this.#pathOf(ref);
    const existing = await stat(path).catch(unlessMissing);
    if (existing?.size === bytes.length) return ref;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileDurably(path, bytes);
    return ref;
  }

  async get(ref: BlobRef): Promise<Uint8Array> {
    const path = this.#pathOf(ref);
    const bytes = await readFile(path).catch(async (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT' && (await this.#exists());
      throw isMissing ? missingBlob(ref, error) : new Error(missingText(ref), { cause: error });
    });
    if (createHash('sha256').update(bytes).digest('hex') !== ref) throw corruptBlob(ref);
    return bytes;
  }

  /** False for a folder that is not mounted, and for one that no worker has used yet. */
  async #exists(): Promise<boolean> {
    const found = await Promise.allSettled(['blobs', STORE_ID_NAME].map((name) => stat(join(this.#folder, name))));
    return found.some(({ status }) => status === 'fulfilled');
  }

  #pathOf(ref: BlobRef): string {
    return join(this.#folder, 'blobs', ref.slice(0, 2), checkedRef(ref));
  }
}

/** Stores blobs in the first store, and reads what it does not have from the second one, such as the store of earlier workers. */
export function withFormerStore(store: BlobStore, former: BlobStore): BlobStore {
  return {
    put: (bytes) => store.put(bytes),
    get: (ref) =>
      store.get(ref).catch(async (error: unknown) => {
        // the error of the store in use says more
        return await former.get(ref).catch(() => Promise.reject(error));
      }),
  };
}

/** A store that opens with its first use. */
export function lazyStore(open: () => Promise<BlobStore>): BlobStore {
  let opened: Promise<BlobStore> | undefined;
  const store = (): Promise<BlobStore> => (opened ??= open());
  return { put: async (bytes) => await (await store()).put(bytes), get: async (ref) => await (await store()).get(ref) };
}

/** The store of a client. It decodes carried state but does not need it: a blob that it cannot read counts as missing. */
export function storeOfClient(store: BlobStore): BlobStore {
  return {
    put: (bytes) => store.put(bytes),
    get: (ref) => store.get(ref).catch((error: unknown) => Promise.reject(missingBlob(ref, error))),
  };
}

/** Returns a reference unchanged. Throws `BLOB_CORRUPT`: it comes from a payload, so only a valid hash may become a path or a key. */
export function checkedRef(ref: BlobRef): BlobRef {
  if (/^[0-9a-f]{64}$/u.test(ref)) return ref;
  throw new Error(`BLOB_CORRUPT ${JSON.stringify(ref.slice(0, 80))}: not a valid reference`);
}

/** The error for a blob that its store does not have. */
export function missingBlob(ref: BlobRef, cause: unknown): MissingBlobError {
  return new MissingBlobError(missingText(ref), { cause });
}

/** The error for a blob whose bytes do not have its hash. */
export function corruptBlob(ref: BlobRef, cause?: unknown): Error {
  return new Error(`BLOB_CORRUPT ${ref}: the stored payload was changed or truncated`, { cause });
}

/** The message for a blob that cannot be read. */
export function missingText(ref: BlobRef): string {
  return `BLOB_MISSING ${ref}: the stored payload is missing or unreadable. All workers of a queue must store large payloads in one place`;
}

/**
 * Returns the payload that `read` returns. One whose blob is missing becomes a payload that cannot be decoded, and whose encoding says why:
 * a message from a client with another folder is refused then. Thrown, the error would fail the workflow task for ever.
 */
export async function markMissing(read: () => Promise<Payload>): Promise<Payload> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof MissingBlobError)) throw error;
    return { metadata: { encoding: new TextEncoder().encode(error.message) } };
  }
}
