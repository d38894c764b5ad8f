import { type DataConverter, ExternalStorage } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/limits.js';
import { createFileStorageDriver } from './file-storage-driver.js';

/**
 * The converter of workers and clients that share a state folder: payloads above 256 KiB (carried state, large inputs) go to files.
 * What outsiders read (results, queries) stays below 192 KiB and is never stored there.
 */
export function createDataConverter({ artifactsDir }: { readonly artifactsDir: string }): DataConverter {
  return {
    externalStorage: new ExternalStorage({
      drivers: [createFileStorageDriver(artifactsDir)],
      payloadSizeThreshold: PAYLOAD_LIMITS.inlineBytesMax,
    }),
  };
}
