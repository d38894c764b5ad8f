import { createHash } from 'node:crypto';
import { ArtifactError, type ArtifactPage, type ArtifactStore, type ArtifactWriter, hashOfRef } from './artifact-store.js';
import { type S3Access, S3ArtifactWriter } from './s3-artifact-writer.js';

/** Where the artifacts of many workers are, and how to get there. */
export interface S3ArtifactStoreOptions {
  readonly bucket: string;
  /** Stands before every key. @default `artifacts/` */
  readonly prefix?: string;
  /** @default the SDK's own: AWS_REGION, a profile */
  readonly region?: string;
  /** Of a server that speaks S3; absent: Amazon's. */
  readonly endpoint?: string;
  /** Read before each new connection, so that values are nowhere else. @default the SDK's own chain: environment, profile, role */
  readonly credentials?: () => { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** What the SDK is asked once more after a failure of the network; a tool call must not wait for long. */
const ATTEMPTS_MAX = 2;

const RANGE_NOT_SATISFIABLE = 416;

/** A server that does not answer is given up: the output of a running command waits for it. */
const CONNECT_MS_MAX = 3_000;

const REQUEST_MS_MAX = 15_000;

/**
 * Artifacts as objects of an S3 bucket: key = prefix + hash. Large ones are uploaded in parts under a name of their own and copied to
 * their hash when it is known. Needs the optional package `@aws-sdk/client-s3`.
 */
export class S3ArtifactStore implements ArtifactStore {
  readonly #options: S3ArtifactStoreOptions;
  #access: Promise<S3Access> | undefined;

  /** Connects to nothing. */
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
      if (isDamaged(page, { hash, offset, bytes })) throw new ArtifactError('BLOB_CORRUPT', `${ref} was changed or cut`);
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
      // an offset behind the end: the page is empty, and the size is asked for alone
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
    throw new ArtifactError('STORE_FAILED', 'artifacts in S3 need the package @aws-sdk/client-s3; install it beside perdure', { cause });
  });
  const client = new sdk.S3Client({
    maxAttempts: ATTEMPTS_MAX,
    // the names are hashes: checksums of the SDK's own add nothing, and not every server knows them
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS_MAX, requestTimeout: REQUEST_MS_MAX, throwOnRequestTimeout: true },
    ...(region === undefined ? {} : { region }),
    // servers other than Amazon's rarely have a host name for each bucket
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials: () => Promise.resolve(credentials()) }),
  });
  return { sdk, client, bucket, prefix };
}

/** What was read whole is checked against its name; of a part only the length can be. */
function isDamaged(page: ArtifactPage, { hash, offset, bytes }: { hash: string; offset: number; bytes: number }): boolean {
  if (page.bytes.length === page.size) return createHash('sha256').update(page.bytes).digest('hex') !== hash;
  return page.bytes.length < Math.min(bytes, page.size - offset);
}

function asArtifactError(error: unknown, ref: string): ArtifactError {
  if (error instanceof ArtifactError) return error;
  const name = error instanceof Error ? error.name : 'unknown error';
  // a bucket that is not there says nothing about what is in it
  const isMissing = statusOf(error) === 404 && name !== 'NoSuchBucket';
  if (isMissing) return new ArtifactError('BLOB_MISSING', `${ref} is not in the store`, { cause: error });
  return new ArtifactError('STORE_FAILED', `${ref} could not be read (${name})`, { cause: error });
}

/** The HTTP status that the SDK puts beside its errors. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  return (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode;
}
