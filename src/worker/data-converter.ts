import { type DataConverter, ExternalStorage } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { PerdureError } from '../contracts/perdure-error.js';
import { protobufjsProblem } from './protobufjs-problem.js';
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
