// A server whose tools change: `unlock` adds `secret`, and changes the description of `plain`; `lock` takes `secret` away; `churn` renames a tool
// with each call. It reports each change.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

let isOpen = false;
let churns = 0;
const tool = (name, description) => ({ name, description, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
const server = new Server({ name: 'changing', version: '1' }, { capabilities: { tools: { listChanged: true } } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    tool('unlock', 'Adds a tool.'),
    tool('lock', 'Takes it away.'),
    tool('churn', `Changes the list, ${churns} times so far.`),
    tool('plain', isOpen ? 'Knows that the door is open.' : 'Knows nothing.'),
    ...(isOpen ? [tool('secret', 'Opens only here.')] : []),
  ],
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }) => {
  if (name === 'churn') churns += 1;
  if (name === 'lock' || name === 'unlock') isOpen = name === 'unlock';
  if (name !== 'plain' && name !== 'secret') await server.sendToolListChanged();
  return { content: [{ type: 'text', text: `did ${name}` }] };
});
await server.connect(new StdioServerTransport());
