import type { WorkerPlugin } from '@temporalio/worker';
import type { LoadedConfig } from '../config/load-config.js';
import { mcpServersOf } from '../config/mcp-servers-of.js';

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
