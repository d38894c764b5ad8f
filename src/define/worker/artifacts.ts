import { z } from 'zod';
import { INPUT_LIMITS } from '../../contracts/constants/limits.js';
import { KeyReference } from './credentials.js';

/** An S3 bucket, for workers on several hosts. It needs the package `@aws-sdk/client-s3`. */
export const ArtifactsBucket = z.strictObject({
  /** Name of the bucket. */
  bucket: z.string().min(3).max(63),
  /** Prefix of every key. @default `artifacts/` */
  prefix: z.string().max(200).optional(),
  /** Region of the bucket. @default the AWS SDK's: `AWS_REGION` or a profile */
  region: z.string().min(1).optional(),
  /** Address of another server that speaks S3. @default Amazon S3 */
  endpoint: z.string().optional(),
  /** Allows plain http to another host, which sends outputs unencrypted. @default false */
  allowInsecure: z.boolean().optional(),
  /** References of the access key. @default the AWS SDK's: environment, profile or role */
  credentials: z.strictObject({ accessKeyId: KeyReference, secretAccessKey: KeyReference }).optional(),
});
export type ArtifactsBucket = z.infer<typeof ArtifactsBucket>;

/** A folder that all hosts mount, for workers on several hosts. */
export const ArtifactsFolder = z.strictObject({
  /** Absolute path of the folder. It must exist. */
  folder: z.string().min(1).max(INPUT_LIMITS.pathCharsMax),
});
export type ArtifactsFolder = z.infer<typeof ArtifactsFolder>;

/** Where workers store what is too large for a history: whole outputs, carried state and large inputs. */
export const ArtifactsDefinition = z.union([ArtifactsBucket, ArtifactsFolder]);
export type ArtifactsDefinition = z.infer<typeof ArtifactsDefinition>;
