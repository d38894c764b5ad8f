import type { Payload } from '@temporalio/common';
import { type StorageDriver, StorageDriverClaim } from '@temporalio/common';
import proto from '@temporalio/proto';
import { BlobStore } from './blob-store.js';

// through the default export: Node finds no named ones in this CommonJS package
const { Payload: PayloadCodec } = proto.temporal.api.common.v1;

/**
 * External storage in a folder: for one machine, or for workers that share the folder. Content-addressed, so that storing again on
 * a replay costs a look.
 */
export function createFileStorageDriver(folder: string): StorageDriver {
  const store = new BlobStore(folder);
  return {
    name: 'perdure-files',
    type: 'perdure.filedriver',
    store: (_context, payloads) =>
      Promise.all(payloads.map(async (payload) => new StorageDriverClaim({ ref: await store.put(PayloadCodec.encode(payload).finish()) }))),
    retrieve: (_context, claims) => Promise.all(claims.map(async (claim) => decode(await store.get(claim.claimData['ref'] ?? '')))),
  };
}

function decode(bytes: Uint8Array): Payload {
  const { metadata, data } = PayloadCodec.decode(bytes);
  return { ...(metadata ? { metadata } : {}), ...(data ? { data } : {}) };
}
