// A process with a pool whose server is in a call: `hold-server.ts FOLDER MODE`. Prints a word that only its server's arguments have.
import { fileURLToPath } from 'node:url';
import { McpTools } from '../../../../src/activities/mcp/mcp-tools.js';
import { McpPool } from '../../../../src/activities/mcp/pool.js';
import { captureKeys } from '../../../../src/providers/access/key-ring.js';
import { callTool, RUN } from './calls.js';

const [cwd = '', mode = 'namespaces'] = process.argv.slice(2);
const marker = `perdure-odd-${process.pid}`;
const server = fileURLToPath(new URL('odd-server.mjs', import.meta.url));
const servers = { odd: { command: process.execPath, args: [server, marker], cwd } };
const sandbox = { mode: mode === 'none' ? ('none' as const) : ('namespaces' as const) };
const tools = new McpTools(new McpPool({ servers, sandbox, protected: [], keys: captureKeys({}) }));
await tools.offer(['odd'], RUN);
console.log(marker);
await callTool(tools, 'odd_hang');
