import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { ArtifactError } from '../../artifacts/artifact-store.js';
import { FileArtifactStore } from '../../artifacts/file-artifact-store.js';
import { S3ArtifactStore } from '../../artifacts/s3-artifact-store.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import type { LoadedConfig } from '../config/load-config.js';
import { stateFolder } from '../state-folder/state-folder.js';

/** Creates the store of large outputs: the bucket of the config, or files in the state folder. Does not connect. */
export function createArtifactStore({ config, keys }: Pick<LoadedConfig, 'config' | 'keys'>, stateDir: string): ArtifactStore {
  if (!config.artifacts) return new FileArtifactStore(stateFolder(stateDir).outputs);
  const { bucket, prefix, region, endpoint, credentials } = config.artifacts;
  return new S3ArtifactStore({
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
  });
}

function keyOf(keys: KeyRing, reference: string): string {
  const value = keys.resolve(reference);
  if (value === undefined) throw new ArtifactError('STORE_FAILED', keys.problem(reference) ?? `no value for ${reference}`);
  return value;
}
