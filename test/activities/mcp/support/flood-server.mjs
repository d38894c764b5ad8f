// An MCP server that answers the greeting, then asks without end and reads nothing.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const PING = `${JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(60_000), method: 'ping' })}\n`;

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'flood', version: '1' } } });
  }
  if (method === 'tools/list') send({ id, result: { tools: [{ name: 'act', inputSchema: { type: 'object', properties: {} } }] } });
  if (method !== 'tools/call') return;
  lines.pause();
  process.stdin.pause();
  const next = () => process.stdout.write(PING, () => setImmediate(next));
  next();
});
