import { createRequire } from 'node:module';
import { type DataConverter, ExternalStorage } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { PerdureError } from '../contracts/perdure-error.js';
import { createFileStorageDriver } from './storage/file-storage-driver.js';

/**
 * Creates the data converter of workers and clients that share a state folder. Payloads above 256 KiB (carried state, large inputs) are
 * stored in files. Results and query answers stay below 192 KiB, so other clients can read them. Throws PerdureError `INSTALLATION` (1)
 * if the installed packages do not support external storage.
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
 * The reason why external storage does not work in this installation, or undefined. With two copies of protobufjs below the Temporal
 * packages, each store fails with "type must be a Type" and is retried forever. Throws if @temporalio/common is not installed.
 */
export function protobufjsProblem(from: string | URL = import.meta.url): string | undefined {
  const common = createRequire(from).resolve('@temporalio/common');
  const ofCommon = createRequire(common).resolve('protobufjs');
  const ofProto = createRequire(createRequire(common).resolve('@temporalio/proto')).resolve('protobufjs');
  if (ofCommon === ofProto) return undefined;
  return `two copies of protobufjs (${ofCommon}, ${ofProto}): add protobufjs ^8.8.1 to "dependencies" or "overrides", then install again`;
}
