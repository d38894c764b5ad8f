import { createHash } from 'node:crypto';
import { ArtifactError, type ArtifactPage, type ArtifactStore, type ArtifactWriter, hashOfRef } from './artifact-store.js';
import { type S3Access, S3ArtifactWriter } from './s3-artifact-writer.js';

/** Options of `S3ArtifactStore`. */
export interface S3ArtifactStoreOptions {
  readonly bucket: string;
  /** The prefix of every key. @default `artifacts/` */
  readonly prefix?: string;
  /** @default from the SDK: AWS_REGION or a profile */
  readonly region?: string;
  /** The address of an S3-compatible server. @default Amazon S3 */
  readonly endpoint?: string;
  /** Called before each new connection, so that key values are not stored elsewhere. @default from the SDK: environment, profile, role */
  readonly credentials?: () => { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** One retry of the SDK after a network failure. More would delay the tool call. */
const ATTEMPTS_MAX = 2;

const RANGE_NOT_SATISFIABLE = 416;

/** The connect timeout. The output of a running command waits for the store. */
const CONNECT_MS_MAX = 3_000;

const REQUEST_MS_MAX = 15_000;

/**
 * Stores artifacts as objects in an S3 bucket: key = prefix + hash. A large one is uploaded in parts under a temporary key and copied
 * to its hash at the end. Needs the optional package `@aws-sdk/client-s3`.
 */
export class S3ArtifactStore implements ArtifactStore {
  readonly #options: S3ArtifactStoreOptions;
  #access: Promise<S3Access> | undefined;

  /** Does not connect. */
  constructor(options: S3ArtifactStoreOptions) {
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
    this.#access ??= connect(this.#options);
    return this.#access;
  }
}

async function connect({ bucket, prefix = 'artifacts/', region, endpoint, credentials }: S3ArtifactStoreOptions): Promise<S3Access> {
  const sdk = await import('@aws-sdk/client-s3').catch((cause: unknown) => {
    throw new ArtifactError('STORE_FAILED', 'artifacts in S3 need @aws-sdk/client-s3; install it with: npm install @aws-sdk/client-s3', {
      cause,
    });
  });
  const client = new sdk.S3Client({
    maxAttempts: ATTEMPTS_MAX,
    // keys are hashes, so the checksums of the SDK are redundant, and some servers do not support them
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS_MAX, requestTimeout: REQUEST_MS_MAX, throwOnRequestTimeout: true },
    ...(region === undefined ? {} : { region }),
    // most other servers have no host name per bucket
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials: () => Promise.resolve(credentials()) }),
  });
  return { sdk, client, bucket, prefix };
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

/** The HTTP status of an SDK error. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  return (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode;
}
