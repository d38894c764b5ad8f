import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { McpTools } from '../../../../src/activities/mcp/mcp-tools.js';
import { McpPool, type McpPoolOptions } from '../../../../src/activities/mcp/pool.js';
import type { McpProcess } from '../../../../src/define/worker/mcp-servers.js';
import { captureKeys } from '../../../../src/providers/access/key-ring.js';

const ODD_SERVER = fileURLToPath(new URL('odd-server.mjs', import.meta.url));

/** What a test file opens; all of it is closed after each test. */
export function useMcp() {
  const pools: McpPool[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  const folder = async (): Promise<string> => {
    const made = await mkdtemp(join(tmpdir(), 'perdure-mcp-test-'));
    folders.push(made);
    return made;
  };
  const open = (options: Pick<McpPoolOptions, 'servers'> & Partial<McpPoolOptions>): McpTools => {
    const pool = new McpPool({ sandbox: {}, protected: [], keys: captureKeys({}), ...options });
    pools.push(pool);
    return new McpTools(pool);
  };
  return {
    folder,
    open,
    /** Tools of the server that misbehaves, in a folder where it writes what it was asked. */
    odd: async (more: Partial<McpProcess> = {}, options: Partial<McpPoolOptions> = {}) => {
      const cwd = await folder();
      const env = { LOG: join(cwd, 'log'), MARK: join(cwd, 'mark'), ...more.env };
      const tools = open({ servers: { odd: { command: process.execPath, args: [ODD_SERVER], cwd, ...more, env } }, ...options });
      return { tools, cwd, log: async (): Promise<string[]> => (await readFile(env.LOG, 'utf8')).trim().split('\n') };
    },
  };
}
