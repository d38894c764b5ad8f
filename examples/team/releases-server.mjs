// An MCP server with one tool: the last release. It takes its time, as a server of a package registry may.
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const ANSWER_AFTER_MS = 1_500;

const server = new McpServer({ name: 'releases', version: '1.0.0' });
server.registerTool('latest', { description: 'The version of the last release.', annotations: { readOnlyHint: true } }, async () => {
  await delay(ANSWER_AFTER_MS);
  return { content: [{ type: 'text', text: '1.4.0' }] };
});
await server.connect(new StdioServerTransport());
