import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpTools } from '../../dist/activities/mcp/mcp-tools.js';
import { McpPool } from '../../dist/activities/mcp/pool.js';
import { median, round } from '../statistics.mjs';

const CALLS = 200;
const ROUNDS = 5;
const SERVER = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));
const KEYS = { resolve: () => undefined, problem: () => undefined, names: () => [], held: () => [] };

/** (n): a call of a tool of an MCP server by the worker's pool, beside the same call by the client of the SDK. Both over stdio, in turn. */
export async function mcpCalls() {
  const pool = new McpPool({
    servers: { all: { command: process.execPath, args: [SERVER, 'stdio'] } },
    sandbox: {},
    protected: [],
    keys: KEYS,
  });
  const tool = new McpTools(pool).get('all_echo');
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER, 'stdio'], stderr: 'ignore' }));
  // each call has a signal of its own, as in a worker
  const ours = () => tool.execute({ message: 'hello' }, { signal: new AbortController().signal, heartbeat: () => undefined });
  const bare = () => client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  try {
    await Promise.all([ours(), bare()]);
    const rounds = [];
    for (let at = 0; at < ROUNDS; at += 1) rounds.push({ ours: await timed(ours), bare: await timed(bare) });
    const [own, sdk] = [median(rounds.map(({ ours: ms }) => ms)), median(rounds.map(({ bare: ms }) => ms))];
    return { callMs: round(own), bareMs: round(sdk), addedMs: round(own - sdk), all: rounds };
  } finally {
    await Promise.all([pool.close(), client.close()]);
  }
}

/** Milliseconds of a call, one after the other. */
async function timed(call) {
  const startedAt = performance.now();
  for (let at = 0; at < CALLS; at += 1) await call();
  return (performance.now() - startedAt) / CALLS;
}
