import { z } from 'zod';
import { KeyReference } from './credentials.js';

/** The bucket where large outputs are kept, for workers that share no folder. Needs the package `@aws-sdk/client-s3`. */
export const ArtifactsDefinition = z.strictObject({
  bucket: z.string().min(3).max(63),
  /** Stands before every key. @default `artifacts/` */
  prefix: z.string().max(200).optional(),
  /** @default what the AWS SDK finds: AWS_REGION, a profile */
  region: z.string().min(1).optional(),
  /** Of a server that speaks S3. @default Amazon's own */
  endpoint: z.string().optional(),
  /** Plain http to another machine sends outputs in the clear: it must be asked for. @default false */
  allowInsecure: z.boolean().optional(),
  /** @default what the AWS SDK finds: environment, profile, role */
  credentials: z.strictObject({ accessKeyId: KeyReference, secretAccessKey: KeyReference }).optional(),
});
export type ArtifactsDefinition = z.infer<typeof ArtifactsDefinition>;
