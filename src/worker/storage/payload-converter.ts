import { createRequire } from 'node:module';
import { type DataConverter, ExternalStorage } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { BlobStore } from './blob-store.js';
import { createBlobStorageDriver } from './file-storage-driver.js';
import { LargePayloadCodec } from './large-payload-codec.js';

/** A data converter for large payloads: its codec, and the storage of earlier versions. */
export type LargePayloadConverter = DataConverter & Required<Pick<DataConverter, 'payloadCodecs' | 'externalStorage'>>;

/**
 * Adds large payloads to a data converter. Codecs of `given` come first, so that blobs are encrypted too. Its external storage is kept:
 * it takes the payloads that it selects, after all codecs, and `blobs` only what is too small for it. A converter that has large payloads
 * already is kept. Throws PerdureError `INSTALLATION` (1) if the installed packages do not support external storage.
 */
export function createPayloadConverter(blobs: BlobStore, given: DataConverter = {}): LargePayloadConverter {
  const problem = protobufjsProblem();
  if (problem) throw new PerdureError('INSTALLATION', problem, 1);
  const { payloadCodecs = [], externalStorage } = given;
  const isComplete = payloadCodecs.some((codec) => codec instanceof LargePayloadCodec);
  return {
    ...given,
    payloadCodecs: isComplete ? payloadCodecs : [...payloadCodecs, new LargePayloadCodec(blobs, externalStorage?.payloadSizeThreshold)],
    externalStorage: withEarlierReferences(externalStorage, blobs),
  };
}

/** External storage that reads what earlier versions stored. Without one of the application, it stores only where the codec is left out. */
function withEarlierReferences(given: ExternalStorage | undefined, blobs: BlobStore): ExternalStorage {
  const earlier = createBlobStorageDriver(blobs);
  if (!given) return new ExternalStorage({ drivers: [earlier], payloadSizeThreshold: PAYLOAD_LIMITS.externalBytesMin });
  if (given.getDriver(earlier.name)) return given;
  const { drivers, driverSelector, payloadSizeThreshold } = given;
  return new ExternalStorage({ drivers: [...drivers, earlier], driverSelector, payloadSizeThreshold });
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
