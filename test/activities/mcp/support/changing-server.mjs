// A server whose tools change: `unlock` adds `secret`, and changes the description of `plain`; `lock` takes `secret` away; `churn` renames a tool
// with each call. It reports each change. With BREAKS, `break` makes its list unreadable until `mend`.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

let isOpen = false;
let churns = 0;
let isBroken = false;
const tool = (name, description) => ({ name, description, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
const server = new Server({ name: 'changing', version: '1' }, { capabilities: { tools: { listChanged: true } } });
const listed = () => ({
  tools: [
    tool('unlock', 'Adds a tool.'),
    tool('lock', 'Takes it away.'),
    tool('churn', `Changes the list, ${churns} times so far.`),
    tool('plain', isOpen ? 'Knows that the door is open.' : 'Knows nothing.'),
    ...(isOpen ? [tool('secret', 'Opens only here.')] : []),
    ...(process.env.BREAKS ? [tool('break', 'Breaks the list.'), tool('mend', 'Mends it.')] : []),
  ],
});
server.setRequestHandler(ListToolsRequestSchema, () => {
  if (isBroken) throw new Error('the catalogue is locked');
  return listed();
});
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }) => {
  if (name === 'churn') churns += 1;
  if (name === 'break' || name === 'mend') isBroken = name === 'break';
  if (name === 'lock' || name === 'unlock') isOpen = name === 'unlock';
  if (name !== 'plain' && name !== 'secret') await server.sendToolListChanged();
  return { content: [{ type: 'text', text: `did ${name}` }] };
});
await server.connect(new StdioServerTransport());
