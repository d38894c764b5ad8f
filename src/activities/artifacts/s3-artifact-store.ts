import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { ArtifactError, type ArtifactPage, type ArtifactStore, type ArtifactWriter, hashOfRef, refOfHash } from './artifact-store.js';
import { S3ArtifactWriter } from './s3-artifact-writer.js';

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
    const { sdk, client, bucket, prefix } = await this.#open();
    try {
      const range = `bytes=${offset}-${offset + Math.max(1, bytes) - 1}`;
      const found = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: `${prefix}${hash}`, Range: range }));
      const read = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
      const size = Number(found.ContentRange?.split('/')[1] ?? read.length);
      checkPage(ref, read, { offset, bytes, size });
      return { bytes: read.subarray(0, bytes), size };
    } catch (error) {
      // an offset behind the end: the page is empty, and the size is asked for alone
      if (statusOf(error) === 416) return { bytes: Buffer.alloc(0), size: await this.#size(hash) };
      throw asArtifactError(error, ref);
    }
  }

  async #size(hash: string): Promise<number> {
    const { sdk, client, bucket, prefix } = await this.#open();
    try {
      return (await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: `${prefix}${hash}` }))).ContentLength ?? 0;
    } catch (error) {
      throw asArtifactError(error, refOfHash(hash));
    }
  }

  #open(): Promise<S3Access> {
    this.#access ??= connect(this.#options);
    return this.#access;
  }
}

/** The SDK, which is loaded only where artifacts are in S3, and a client of it. */
export interface S3Access {
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;
}

async function connect({ bucket, prefix = 'artifacts/', region, endpoint, credentials }: S3ArtifactStoreOptions): Promise<S3Access> {
  const sdk = await import('@aws-sdk/client-s3').catch((cause: unknown) => {
    throw new ArtifactError('STORE_FAILED', 'artifacts in S3 need the package @aws-sdk/client-s3; install it beside perdure', { cause });
  });
  const client = new sdk.S3Client({
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: { connectionTimeout: CONNECT_MS_MAX, requestTimeout: REQUEST_MS_MAX, throwOnRequestTimeout: true },
    ...(region === undefined ? {} : { region }),
    // servers other than Amazon's rarely have a host name for each bucket
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials: () => Promise.resolve(credentials()) }),
  });
  return { sdk, client, bucket, prefix };
}

/** What was read whole is checked against its name; of a part only the length can be. */
function checkPage(ref: string, read: Buffer, { offset, bytes, size }: { offset: number; bytes: number; size: number }): void {
  const isWhole = offset === 0 && read.length === size;
  const isDamaged = isWhole
    ? createHash('sha256').update(read).digest('hex') !== hashOfRef(ref)
    : read.length < Math.min(Math.max(1, bytes), size - offset);
  if (isDamaged) throw new ArtifactError('BLOB_CORRUPT', `${ref} was changed or cut`);
}

function asArtifactError(error: unknown, ref: string): ArtifactError {
  if (error instanceof ArtifactError) return error;
  if (statusOf(error) === 404) return new ArtifactError('BLOB_MISSING', `${ref} is not in the store`, { cause: error });
  const name = error instanceof Error ? error.name : 'unknown error';
  return new ArtifactError('STORE_FAILED', `${ref} could not be read (${name})`, { cause: error });
}

/** The HTTP status that the SDK puts beside its errors. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  return (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode;
}
