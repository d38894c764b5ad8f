import type * as S3 from '@aws-sdk/client-s3';
import { ArtifactError } from './artifact-store.js';

/** The prefix of keys when none is set. */
export const DEFAULT_PREFIX = 'artifacts/';

/** A bucket, and how it is reached. */
export interface S3StoreOptions {
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

/** The SDK, loaded only if artifacts are in S3, and its client. */
export interface S3Access {
  readonly sdk: typeof S3;
  readonly client: S3.S3Client;
  readonly bucket: string;
  readonly prefix: string;
}

/** One retry of the SDK after a network failure. More would delay the tool call. */
const ATTEMPTS_MAX = 2;

/** The connect timeout. The output of a running command waits for the store. */
const CONNECT_MS_MAX = 3_000;

const REQUEST_MS_MAX = 15_000;

/** Loads the SDK and creates a client. Sends no request. Throws ArtifactError `STORE_FAILED` without the package. */
export async function connectS3({ bucket, prefix = DEFAULT_PREFIX, region, endpoint, credentials }: S3StoreOptions): Promise<S3Access> {
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

/** The HTTP status of an SDK error. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  return (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode;
}
