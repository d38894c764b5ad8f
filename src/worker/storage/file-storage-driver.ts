import type { Payload } from '@temporalio/common';
import { type StorageDriver, StorageDriverClaim } from '@temporalio/common';
import proto from '@temporalio/proto';
import { type BlobStore, FileBlobStore, markMissing } from './blob-store.js';

// uses the default export, because Node finds no named exports in this CommonJS package
const { Payload: PayloadCodec } = proto.temporal.api.common.v1;

/**
 * Creates a driver that stores external payloads in a folder, for one machine or for workers that share the folder. Files are
 * content-addressed, so that a replay only checks that they exist.
 */
export function createFileStorageDriver(folder: string): StorageDriver {
  return createBlobStorageDriver(new FileBlobStore(folder));
}

/** Creates the same driver over any store. Its name is part of the references of earlier versions. */
export function createBlobStorageDriver(store: BlobStore): StorageDriver {
  return {
    name: 'perdure-files',
    type: 'perdure.filedriver',
    store: (_context, payloads) =>
      Promise.all(payloads.map(async (payload) => new StorageDriverClaim({ ref: await store.put(PayloadCodec.encode(payload).finish()) }))),
    retrieve: (_context, claims) =>
      Promise.all(claims.map(({ claimData }) => markMissing(async () => decode(await store.get(claimData['ref'] ?? ''))))),
  };
}

function decode(bytes: Uint8Array): Payload {
  const { metadata, data } = PayloadCodec.decode(bytes);
  return { ...(metadata ? { metadata } : {}), ...(data ? { data } : {}) };
}
