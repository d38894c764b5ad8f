import { createRequire } from 'node:module';
import { type DataConverter, ExternalStorage } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { PerdureError } from '../contracts/perdure-error.js';
import { createFileStorageDriver } from './storage/file-storage-driver.js';

/**
 * The converter of workers and clients that share a state folder: payloads above 256 KiB (carried state, large inputs) go to files.
 * What outsiders read (results, queries) stays below 192 KiB and is never stored there. Throws PerdureError `INSTALLATION` (1) where
 * the installed packages could not store anything.
 */
export function createDataConverter({ artifactsDir }: { readonly artifactsDir: string }): DataConverter {
  const problem = protobufjsProblem();
  if (problem) throw new PerdureError('INSTALLATION', problem, 1);
  return {
    externalStorage: new ExternalStorage({
      drivers: [createFileStorageDriver(artifactsDir)],
      payloadSizeThreshold: PAYLOAD_LIMITS.inlineBytesMax,
    }),
  };
}

/**
 * Why external storage cannot work in an installation; undefined when it can. With two copies of protobufjs below the Temporal packages
 * each store fails with "type must be a Type" and is tried again for ever. Throws when @temporalio/common is not installed.
 */
export function protobufjsProblem(from: string | URL = import.meta.url): string | undefined {
  const common = createRequire(from).resolve('@temporalio/common');
  const ofCommon = createRequire(common).resolve('protobufjs');
  const ofProto = createRequire(createRequire(common).resolve('@temporalio/proto')).resolve('protobufjs');
  if (ofCommon === ofProto) return undefined;
  return `two copies of protobufjs (${ofCommon}, ${ofProto}): depend on protobufjs ^8.8.1 directly, or add it to "overrides", and install again`;
}
