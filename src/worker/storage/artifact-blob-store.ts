import { createHash } from 'node:crypto';
import { ArtifactError, type ArtifactStore, refOfHash } from '../../artifacts/artifact-store.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type BlobRef, type BlobStore, checkedRef, corruptBlob, missingBlob, missingText } from './blob-store.js';

/** Stores blobs as artifacts of another store, such as a prefix of a bucket. */
export class ArtifactBlobStore implements BlobStore {
  readonly #artifacts: ArtifactStore;

  constructor(artifacts: ArtifactStore) {
    this.#artifacts = artifacts;
  }

  async put(bytes: Uint8Array): Promise<BlobRef> {
    const ref = createHash('sha256').update(bytes).digest('hex');
    if (await this.#has(ref, bytes.length)) return ref;
    const writer = this.#artifacts.put();
    try {
      await writer.write(bytes);
      await writer.finish();
    } catch (error) {
      await writer.discard();
      throw error;
    }
    return ref;
  }

  async get(ref: BlobRef): Promise<Uint8Array> {
    try {
      const window = { offset: 0, bytes: PAYLOAD_LIMITS.openedBytesMax };
      // an artifact that is read whole is verified
      const { bytes, size } = await this.#artifacts.read(refOfHash(checkedRef(ref)), window);
      if (bytes.length !== size) throw corruptBlob(ref);
      return bytes;
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      if (error.code === 'BLOB_MISSING') throw missingBlob(ref, error);
      throw error.code === 'BLOB_CORRUPT' ? corruptBlob(ref, error) : new Error(`${missingText(ref)} (${error.message})`, { cause: error });
    }
  }

  /** One byte shows the size. A store that does not answer fails the write, with a better error. */
  async #has(ref: BlobRef, size: number): Promise<boolean> {
    const found = await this.#artifacts.read(refOfHash(ref), { offset: 0, bytes: 1 }).catch(() => undefined);
    return found?.size === size;
  }
}
