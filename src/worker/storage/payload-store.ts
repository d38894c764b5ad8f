import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { connectS3, DEFAULT_PREFIX } from '../../artifacts/s3-access.js';
import { S3ArtifactStore } from '../../artifacts/s3-artifact-store.js';
import { idOfBucket, idOfFolder } from '../../artifacts/store-id.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { ArtifactsBucket, ArtifactsDefinition } from '../../define/worker/artifacts.js';
import { captureKeys } from '../../providers/access/key-ring.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import type { LoadedConfig } from '../config/load-config.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { ArtifactBlobStore } from './artifact-blob-store.js';
import { bucketOptions } from './artifact-store.js';
import { type BlobStore, FileBlobStore, withFormerStore } from './blob-store.js';

/** Where the large payloads of a worker or client go. */
export interface PayloadStore {
  readonly blobs: BlobStore;
  /** The place in words, such as `bucket "a"` or `folder "/b"`. */
  readonly place: string;
  /**
   * The random id that only this store has, on whichever host it is reached: proof that it can be used. The first caller creates it. Throws
   * PerdureError `STORE_UNUSABLE` (5), or (2) for a folder that does not exist.
   */
  id(): Promise<string>;
}

/** What names a store: `artifacts` of a config with its keys, and the folder of artifacts in a state folder. */
export interface PayloadStoreOptions {
  readonly artifacts?: ArtifactsDefinition | undefined;
  readonly artifactsDir?: string | undefined;
  readonly keys?: KeyRing | undefined;
}

/**
 * Creates the store of large payloads: the bucket or folder of the config, else the state folder. Payloads in the state folder, from a
 * time without `artifacts`, stay readable. Does not connect. Throws PerdureError `STORE_UNUSABLE` (2) without a store.
 */
export function createPayloadStore({ artifacts, artifactsDir, keys }: PayloadStoreOptions): PayloadStore {
  const former = artifactsDir === undefined ? undefined : new FileBlobStore(artifactsDir);
  if (artifacts) {
    const store = 'folder' in artifacts ? sharedFolder(artifacts.folder) : bucketStore(artifacts, keys);
    return former ? { ...store, blobs: withFormerStore(store.blobs, former) } : store;
  }
  if (artifactsDir === undefined) throw new PerdureError('STORE_UNUSABLE', 'large payloads need a store: set artifacts or artifactsDir', 2);
  return ownFolder(artifactsDir);
}

/** The store of the workers of a config and state folder. */
export function payloadStoreOf({ config, keys }: Pick<LoadedConfig, 'config' | 'keys'>, stateDir: string): PayloadStore {
  return createPayloadStore({ artifacts: config.artifacts, keys, artifactsDir: stateFolder(stateDir).artifacts });
}

function ownFolder(folder: string): PayloadStore {
  const place = `folder ${JSON.stringify(resolve(folder))}`;
  const id = async (): Promise<string> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await idOfFolder(folder);
  };
  return { blobs: new FileBlobStore(folder), place, id: () => id().catch(unusable(place)) };
}

/** A folder that is not mounted must not be created: its payloads would be on one host. */
function sharedFolder(folder: string): PayloadStore {
  const place = `artifacts.folder ${JSON.stringify(folder)}`;
  return { blobs: new FileBlobStore(folder), place, id: () => idOfFolder(folder).catch(unusable(place)) };
}

function bucketStore(artifacts: ArtifactsBucket, keys: KeyRing | undefined): PayloadStore {
  const place = `bucket ${JSON.stringify(artifacts.bucket)}`;
  const options = bucketOptions(artifacts, keys ?? keysOf(artifacts));
  const id = async (): Promise<string> => await idOfBucket(await connectS3(options));
  const prefix = `${artifacts.prefix ?? DEFAULT_PREFIX}blobs/`;
  return { blobs: new ArtifactBlobStore(new S3ArtifactStore({ ...options, prefix })), place, id: () => id().catch(unusable(place)) };
}

/** The keys of a bucket in the environment, which keeps them: a client has no config that takes them out. */
function keysOf({ credentials }: ArtifactsBucket): KeyRing {
  return captureKeys({ ...process.env }, Object.values(credentials ?? {}));
}

function unusable(place: string): (error: unknown) => never {
  return (cause) => {
    const reason = cause instanceof Error ? cause.message.replace(/^STORE_FAILED: /u, '') : String(cause);
    const isAbsent = reason === 'ENOENT';
    const message = `large payloads cannot be stored in ${place}: ${isAbsent ? 'it does not exist. Mount it, or create it' : reason}`;
    throw new PerdureError('STORE_UNUSABLE', message, isAbsent ? 2 : 5, { cause });
  };
}
