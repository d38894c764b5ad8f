import type { WorkerPlugin } from '@temporalio/worker';
import { McpTools } from '../../activities/mcp/mcp-tools.js';
import { McpPool } from '../../activities/mcp/pool.js';
import type { LoadedConfig } from './load-config.js';

/** The MCP servers of a config, which all workers of this process with this config share. */
interface SharedMcpServers {
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

/** Runs a worker, and ends the MCP servers of its config after it, unless another worker of this process still uses them. */
export async function withMcpServers(config: LoadedConfig, run: () => Promise<void>): Promise<void> {
  const servers = mcpServersOf(config);
  if (!servers) return await run();
  servers.workers += 1;
  try {
    await run();
  } finally {
    servers.workers -= 1;
    if (servers.workers === 0) await servers.pool.close();
  }
}

/** A plugin that does this for a worker of the SDK, however it is run. */
export function endMcpServers(config: LoadedConfig): WorkerPlugin {
  return {
    name: 'perdure.mcp-servers',
    runWorker: async (worker, next) => await withMcpServers(config, async () => await next(worker)),
  };
}
