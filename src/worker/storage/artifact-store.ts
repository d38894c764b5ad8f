import { join } from 'node:path';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { ArtifactError } from '../../artifacts/artifact-store.js';
import { FileArtifactStore } from '../../artifacts/file-artifact-store.js';
import type { S3StoreOptions } from '../../artifacts/s3-access.js';
import { S3ArtifactStore } from '../../artifacts/s3-artifact-store.js';
import type { ArtifactsBucket } from '../../define/worker/artifacts.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import type { LoadedConfig } from '../config/load-config.js';
import { OUTPUTS_NAME, stateFolder } from '../state-folder/state-folder.js';

/** Creates the store of large outputs: the bucket or folder of the config, or files in the state folder. Does not connect. */
export function createArtifactStore({ config, keys }: Pick<LoadedConfig, 'config' | 'keys'>, stateDir: string): ArtifactStore {
  const { artifacts } = config;
  if (!artifacts) return new FileArtifactStore(stateFolder(stateDir).outputs);
  if ('folder' in artifacts) return new FileArtifactStore(join(artifacts.folder, OUTPUTS_NAME));
  return new S3ArtifactStore(bucketOptions(artifacts, keys));
}

/** The bucket of a config. Its keys are resolved when they are needed. */
export function bucketOptions({ bucket, prefix, region, endpoint, credentials }: ArtifactsBucket, keys: KeyRing): S3StoreOptions {
  return {
    bucket,
    ...(prefix === undefined ? {} : { prefix }),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined
      ? {}
      : {
          credentials: () => ({
            accessKeyId: keyOf(keys, credentials.accessKeyId),
            secretAccessKey: keyOf(keys, credentials.secretAccessKey),
          }),
        }),
  };
}

function keyOf(keys: KeyRing, reference: string): string {
  const value = keys.resolve(reference);
  if (value === undefined) throw new ArtifactError('STORE_FAILED', keys.problem(reference) ?? `no value for ${reference}`);
  return value;
}
