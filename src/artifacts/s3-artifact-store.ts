import { createHash } from 'node:crypto';
import { ArtifactError, type ArtifactPage, type ArtifactStore, type ArtifactWriter, hashOfRef } from './artifact-store.js';
import { connectS3, type S3Access, type S3StoreOptions, statusOf } from './s3-access.js';
import { S3ArtifactWriter } from './s3-artifact-writer.js';

const RANGE_NOT_SATISFIABLE = 416;

/**
 * Stores artifacts as objects in an S3 bucket: key = prefix + hash. A large one is uploaded in parts under a temporary key and copied
 * to its hash at the end. Needs the optional package `@aws-sdk/client-s3`.
 */
export class S3ArtifactStore implements ArtifactStore {
  readonly #options: S3StoreOptions;
  #access: Promise<S3Access> | undefined;

  /** Does not connect. */
  constructor(options: S3StoreOptions) {
    this.#options = options;
  }

  put(): ArtifactWriter {
    return new S3ArtifactWriter(() => this.#open());
  }

  async read(ref: string, { offset, bytes }: { readonly offset: number; readonly bytes: number }): Promise<ArtifactPage> {
    const hash = hashOfRef(ref);
    try {
      const page = await this.#range(hash, { offset, bytes: Math.max(1, bytes) });
      if (isDamaged(page, { hash, offset, bytes })) throw new ArtifactError('BLOB_CORRUPT', `${ref} was changed or truncated`);
      return { bytes: page.bytes.subarray(0, bytes), size: page.size };
    } catch (error) {
      throw asArtifactError(error, ref);
    }
  }

  async #range(hash: string, { offset, bytes }: { readonly offset: number; readonly bytes: number }): Promise<ArtifactPage> {
    const { sdk, client, bucket, prefix } = await this.#open();
    const target = { Bucket: bucket, Key: `${prefix}${hash}` };
    try {
      const found = await client.send(new sdk.GetObjectCommand({ ...target, Range: `bytes=${offset}-${offset + bytes - 1}` }));
      const read = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
      return { bytes: read, size: Number(found.ContentRange?.split('/')[1] ?? read.length) };
    } catch (error) {
      if (statusOf(error) !== RANGE_NOT_SATISFIABLE) throw error;
      // the offset is behind the end: returns an empty page with the size
      const { ContentLength = 0 } = await client.send(new sdk.HeadObjectCommand(target));
      return { bytes: Buffer.alloc(0), size: ContentLength };
    }
  }

  #open(): Promise<S3Access> {
    this.#access ??= connectS3(this.#options);
    return this.#access;
  }
}

/** Checks a whole artifact against its hash, and a part of one only by its length. */
function isDamaged(page: ArtifactPage, { hash, offset, bytes }: { hash: string; offset: number; bytes: number }): boolean {
  if (page.bytes.length === page.size) return createHash('sha256').update(page.bytes).digest('hex') !== hash;
  return page.bytes.length < Math.min(bytes, page.size - offset);
}

function asArtifactError(error: unknown, ref: string): ArtifactError {
  if (error instanceof ArtifactError) return error;
  const name = error instanceof Error ? error.name : 'unknown error';
  // a missing bucket does not prove that the artifact is missing
  const isMissing = statusOf(error) === 404 && name !== 'NoSuchBucket';
  if (isMissing) return new ArtifactError('BLOB_MISSING', `${ref} is not in the store`, { cause: error });
  return new ArtifactError('STORE_FAILED', `${ref} could not be read (${name})`, { cause: error });
}
