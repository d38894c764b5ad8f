import type { PrepareRunOptions } from '../../activities/prepare/prepare-run.js';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { createReadArtifact } from '../../tools/read-artifact.js';
import { createReadSkill } from '../../tools/read-skill.js';
import { createWorkspaceTools } from '../../tools/registry.js';
import type { LoadedConfig } from './load-config.js';

/** The dependencies of `prepareRun` that follow from a config, for workers and for previews. */
export type PrepareOptions = Omit<PrepareRunOptions, 'searchAttributes' | 'toolQueue' | 'authenticate' | 'heartbeatTimeoutMs'> &
  Required<Pick<PrepareRunOptions, 'readArtifact' | 'readSkill'>>;

/** Creates them. Opens nothing. */
export function prepareOptions(
  { config, keys, hash, env, folder, protected: protectedPaths = [] }: LoadedConfig,
  artifacts: ArtifactStore,
): PrepareOptions {
  return {
    config,
    configHash: hash,
    keys,
    env,
    workspaceTools: createWorkspaceTools({ sandbox: config.sandbox ?? {}, protected: protectedPaths }),
    readArtifact: createReadArtifact(artifacts),
    readSkill: createReadSkill({ folder, agents: config.agents ?? {} }),
    ...(folder === undefined ? {} : { folder }),
  };
}
