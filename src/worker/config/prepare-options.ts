import { McpTools } from '../../activities/mcp/mcp-tools.js';
import { McpPool } from '../../activities/mcp/pool.js';
import type { PrepareRunOptions } from '../../activities/prepare/prepare-run.js';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import type { BackgroundCommands } from '../../tools/commands/background-commands.js';
import { createMemoryTools } from '../../tools/memory/memory-tools.js';
import { createReadArtifact } from '../../tools/read-artifact.js';
import { createReadSkill } from '../../tools/read-skill.js';
import { createListedTools, createWorkspaceTools } from '../../tools/registry.js';
import type { LoadedConfig } from './load-config.js';

/** The dependencies of `prepareRun` that follow from a config, for workers and for previews. */
export type PrepareOptions = Omit<PrepareRunOptions, 'searchAttributes' | 'toolQueue' | 'authenticate' | 'heartbeatTimeoutMs'> &
  Required<Pick<PrepareRunOptions, 'readArtifact' | 'readSkill' | 'memoryTools' | 'listedTools'>>;

/** Creates them. Opens nothing. */
export function prepareOptions(loaded: LoadedConfig, artifacts: ArtifactStore, background: BackgroundCommands): PrepareOptions {
  const { config, keys, hash, env, folder, pluginSkills, protected: protectedPaths = [] } = loaded;
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
    ...mcpToolsOf(loaded),
  };
}

const toolsByConfig = new WeakMap<LoadedConfig, McpTools>();

/** The tools of a config's MCP servers. All workers of this process with one config share the servers. */
function mcpToolsOf(loaded: LoadedConfig): Pick<PrepareOptions, 'mcpTools'> {
  const { config, keys, protected: paths = [] } = loaded;
  if (Object.keys(config.mcpServers ?? {}).length === 0) return {};
  const known = toolsByConfig.get(loaded);
  if (known) return { mcpTools: known };
  const pool = new McpPool({ servers: config.mcpServers ?? {}, sandbox: config.sandbox ?? {}, protected: paths, keys });
  const mcpTools = new McpTools(pool);
  toolsByConfig.set(loaded, mcpTools);
  return { mcpTools };
}
