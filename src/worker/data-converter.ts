import { createRequire } from 'node:module';
import { type DataConverter, ExternalStorage } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { PerdureError } from '../contracts/perdure-error.js';
import { createFileStorageDriver } from './storage/file-storage-driver.js';
import { createLargePayloadCodec } from './storage/large-payload-codec.js';

/** A data converter for large payloads: its codec, and the storage of earlier versions. */
export type LargePayloadConverter = DataConverter & Required<Pick<DataConverter, 'payloadCodecs' | 'externalStorage'>>;

/**
 * Creates the data converter of workers and clients that share a state folder. Payloads above 1.5 MiB (carried state, large inputs) are
 * compressed, and stored in files when they stay larger. Results and query answers stay below 192 KiB, so other clients can read them;
 * they can also follow a run whose carried state was compressed or stored. Codecs of your own come first:
 * `payloadCodecs: [yours, ...dataConverter.payloadCodecs]`. Throws PerdureError `INSTALLATION` (1) if the installed packages do not
 * support external storage, in which earlier versions stored payloads above 256 KiB.
 */
export function createDataConverter({ artifactsDir }: { readonly artifactsDir: string }): LargePayloadConverter {
  const problem = protobufjsProblem();
  if (problem) throw new PerdureError('INSTALLATION', problem, 1);
  return {
    payloadCodecs: [createLargePayloadCodec(artifactsDir)],
    // reads what earlier versions stored; it stores only where an application left the codec out
    externalStorage: new ExternalStorage({
      drivers: [createFileStorageDriver(artifactsDir)],
      payloadSizeThreshold: PAYLOAD_LIMITS.externalBytesMin,
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
