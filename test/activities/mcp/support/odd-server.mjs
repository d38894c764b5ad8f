// An MCP server whose tools misbehave, each in its own way. It writes what it was asked to the file LOG.
import { appendFileSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const OBJECT = { type: 'object', properties: { n: { type: 'number' } } };
const tool = (name, more = {}) => ({ name, description: `Tool ${name}.`, inputSchema: OBJECT, ...more });
const READ = { annotations: { readOnlyHint: true } };

const TOOLS = [
  tool('add', READ),
  tool('hang'),
  tool('die'),
  tool('die-once', READ),
  tool('flood'),
  tool('silent-error'),
  tool('big-image', READ),
  tool('unknown-content', READ),
  tool('lie', { ...READ, outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }),
  tool('progress', READ),
  tool('log-much', READ),
  tool('with spaces and ümlauts'),
  tool('x'.repeat(80)),
  tool('repeatable', { annotations: { idempotentHint: true } }),
  tool('bad-schema', { inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.com/schema' } } } }),
  tool('huge-schema', { inputSchema: { type: 'object', description: 'x'.repeat(100_000) } }),
  tool('probe', { ...READ, inputSchema: { type: 'object', properties: { files: { type: 'array' }, port: { type: 'number' } } } }),
  tool('strict', {
    ...READ,
    inputSchema: { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } }, required: ['items'] },
  }),
];

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const log = (line) => process.env.LOG && appendFileSync(process.env.LOG, `${line}\n`);
/** The id of a ping whose answer shows that progress was read, before the id of the call. */
const PROGRESS_READ = 'progress-read-';
const text = (value) => ({ content: [{ type: 'text', text: value }] });

log(`start ${process.pid}`);
if (process.env.FAIL_START) {
  console.error('the token is refused');
  process.exit(3);
}
process.on('SIGTERM', () => process.exit(0));

const RESULTS = {
  add: ({ n }) => text(`sum ${n + 1}`),
  'silent-error': () => ({ content: [], isError: true }),
  'big-image': () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(20 * 1024 * 1024) }] }),
  'unknown-content': () => ({
    content: [
      { type: 'text', text: 'before' },
      { type: 'resource_link', uri: 'x://y', name: 'y' },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
    ],
  }),
  lie: () => ({ content: [{ type: 'text', text: 'took effect' }], structuredContent: { n: 'no number' } }),
  'with spaces and ümlauts': () => text('found'),
  ['x'.repeat(80)]: () => text('long'),
  repeatable: () => text('again'),
  strict: ({ items }) => text(items.join('+')),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (String(id).startsWith(PROGRESS_READ)) return send({ id: Number(id.slice(PROGRESS_READ.length)), result: text('done') });
  if (method === 'initialize') {
    return send({
      id,
      result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } },
    });
  }
  if (method === 'tools/list') return send({ id, result: { tools: TOOLS } });
  if (method === 'ping') return process.env.HUNG ? undefined : send({ id, result: {} });
  if (method === 'notifications/cancelled') return log('cancelled');
  if (method !== 'tools/call') return undefined;
  const { name, arguments: args, _meta } = params;
  log(`call ${name}`);
  switch (name) {
    case 'hang':
      process.env.HUNG = '1';
      return undefined;
    case 'die':
      process.exit(9);
    case 'die-once': {
      if (process.env.MARK && !appendOnce(process.env.MARK)) return send({ id, result: text('after a restart') });
      process.exit(9);
    }
    case 'flood':
      process.stdout.write('x'.repeat(40 * 1024 * 1024));
      return undefined;
    case 'progress':
      send({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken, progress: 1, total: 2, message: 'half' } });
      // the SDK drops progress that comes together with the result, so the result waits until the client has read it
      return void send({ id: PROGRESS_READ + id, method: 'ping' });
    case 'log-much':
      for (let n = 0; n < 200; n += 1) console.error(`line ${n} ${'e'.repeat(200)}`);
      console.log('not a message');
      send({ id, result: text('y'.repeat(300_000)) });
      return undefined;
    case 'probe':
      return void probe(args).then((seen) => send({ id, result: text(JSON.stringify(seen)) }));
    default:
      return send({ id, result: RESULTS[name](args) });
  }
});

/** Which files it can read, whether it reaches a port of this machine, and its variables. */
async function probe({ files, port }) {
  const readable = files.filter((path) => {
    try {
      return readFileSync(path, 'utf8') !== '';
    } catch {
      return false;
    }
  });
  const reaches = await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
  });
  return { readable, reaches, variables: Object.keys(process.env) };
}

/** True for the first call: the mark did not exist. */
function appendOnce(path) {
  try {
    appendFileSync(path, 'x', { flag: 'ax' });
    return true;
  } catch {
    return false;
  }
}
