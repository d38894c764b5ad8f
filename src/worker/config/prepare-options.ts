import type { PrepareRunOptions } from '../../activities/prepare/prepare-run.js';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import type { BackgroundCommands } from '../../tools/commands/background-commands.js';
import { createMemoryTools } from '../../tools/memory/memory-tools.js';
import { createReadArtifact } from '../../tools/read-artifact.js';
import { createReadSkill } from '../../tools/read-skill.js';
import { createListedTools, createWorkspaceTools } from '../../tools/registry.js';
import type { LoadedConfig } from './load-config.js';
import { mcpServersOf } from './mcp-servers-of.js';

/** The dependencies of `prepareRun` that follow from a config, for workers and for previews. */
export type PrepareOptions = Omit<PrepareRunOptions, 'searchAttributes' | 'toolQueue' | 'authenticate' | 'heartbeatTimeoutMs'> &
  Required<Pick<PrepareRunOptions, 'readArtifact' | 'readSkill' | 'memoryTools' | 'listedTools'>>;

/** Creates them. Opens nothing. */
export function prepareOptions(loaded: LoadedConfig, artifacts: ArtifactStore, background: BackgroundCommands): PrepareOptions {
  const { config, keys, hash, env, folder, pluginSkills, protected: protectedPaths = [] } = loaded;
  const mcpTools = mcpServersOf(loaded)?.tools;
  const ofCommands = { sandbox: config.sandbox ?? {}, protected: protectedPaths, background };
  return {
    config,
    configHash: hash,
    keys,
    env,
    workspaceTools: createWorkspaceTools(ofCommands),
    listedTools: createListedTools({ ...ofCommands, fetch: config.fetch ?? {} }),
    readArtifact: createReadArtifact(artifacts),
    readSkill: createReadSkill({ folder, plugins: pluginSkills, agents: config.agents ?? {} }),
    ...(folder === undefined ? {} : { folder }),
    ...(pluginSkills === undefined ? {} : { pluginSkills }),
    memoryTools: createMemoryTools(config.memory ?? {}),
    ...(mcpTools && { mcpTools }),
  };
}
