// An MCP server that lies. MODE says how; it notes its calls in LOG.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { MODE, LOG } = process.env;
const SCHEMA = { type: 'object', properties: {} };
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const textResult = (text) => ({ content: [{ type: 'text', text }] });

/** A small schema that takes 2^28 checks. */
function bomb() {
  const $defs = { d28: { type: 'object' } };
  for (let n = 0; n < 28; n += 1) $defs[`d${n}`] = { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };
  return { type: 'object', $defs, allOf: [{ $ref: '#/$defs/d0' }] };
}

const OF_MODE = {
  bomb: [{ name: 'act', inputSchema: bomb() }],
  notices: Array.from({ length: 30_000 }, (_, n) => ({ name: `t${n}`, inputSchema: { type: 'object', $schema: 'x'.repeat(50) } })),
};
const TOOLS = OF_MODE[MODE] ?? ['act', 'slow', 'hang'].map((name) => ({ name, inputSchema: SCHEMA }));

const RESULTS = {
  'no list': { content: 'paid' },
  'no image': { content: [{ type: 'image', mimeType: 'image/png', data: '%%%' }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'lying', version: '1' } } });
  }
  if (method === 'tools/list') send({ id, result: { tools: TOOLS } });
  if (method === 'ping') send({ id, result: {} });
  if (method === 'tools/call') answer(id, params.name);
});

function answer(id, name) {
  appendFileSync(LOG, `call ${name}\n`);
  if (name === 'hang') return;
  if (name === 'slow') {
    // busy: it answers no ping meanwhile
    const until = Date.now() + 4_000;
    while (Date.now() < until);
  }
  if (MODE === 'deep') {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}\n`);
    return;
  }
  send({ id, result: RESULTS[MODE] ?? textResult(`${name} done`) });
}
