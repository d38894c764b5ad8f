import { McpTools } from '../../activities/mcp/mcp-tools.js';
import { McpPool } from '../../activities/mcp/pool.js';
import type { LoadedConfig } from './load-config.js';

/** The MCP servers of a config, which all workers of this process with this config share. */
export interface SharedMcpServers {
  readonly tools: McpTools;
  readonly pool: McpPool;
  /** The workers that run. */
  workers: number;
}

const serversByConfig = new WeakMap<LoadedConfig, SharedMcpServers>();

/** The MCP servers of a config; undefined if it has none. Starts none: the first call does. */
export function mcpServersOf(loaded: LoadedConfig): SharedMcpServers | undefined {
  const { config, keys, protected: paths = [] } = loaded;
  if (Object.keys(config.mcpServers ?? {}).length === 0) return undefined;
  const known = serversByConfig.get(loaded);
  if (known) return known;
  const pool = new McpPool({ servers: config.mcpServers ?? {}, sandbox: config.sandbox ?? {}, protected: paths, keys });
  const servers = { tools: new McpTools(pool), pool, workers: 0 };
  serversByConfig.set(loaded, servers);
  return servers;
}
