import { z } from 'zod';
import { KeyReference } from './credentials.js';

/** An S3 bucket for large outputs, for workers on several hosts. It needs the package `@aws-sdk/client-s3`. */
export const ArtifactsDefinition = z.strictObject({
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
export type ArtifactsDefinition = z.infer<typeof ArtifactsDefinition>;
