// A server that requests completions during its calls, over stdio. Its tools take the params of the requests, in order: `look` may be
// repeated, `book` may not. It writes what happens to the file LOG.
import { appendFileSync, readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, CreateMessageResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const LOG = process.env.LOG;
const log = (line) => LOG && appendFileSync(LOG, `${line}\n`);
const TOOLS = ['look', 'book', 'brief', 'fragile', 'late', 'leak', 'together'];
const HELLO = { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }], maxTokens: 100 };

const server = new Server({ name: 'sampling', version: '1' }, { capabilities: { tools: {} } });
server.oninitialized = () => log(`client ${JSON.stringify(server.getClientCapabilities())}`);

// a long text is made here, so that no history has it
const enlarged = (params) => JSON.parse(JSON.stringify(params).replaceAll('"BIG"', `"${'x'.repeat(300_000)}"`));

// the server's own SDK would check some of the requests
const sample = (params, { requestId, signal }, options = {}) =>
  server
    .request({ method: 'sampling/createMessage', params: enlarged(params) }, CreateMessageResultSchema, {
      timeout: 600_000,
      signal,
      relatedRequestId: requestId,
      ...options,
    })
    .catch(({ code, message }) => `${code} ${message}`);

const HANDLERS = {
  async brief(_, extra) {
    const given = await sample(HELLO, extra, { timeout: 500 });
    return typeof given === 'string' ? 'gave up' : given;
  },
  async fragile(_, extra) {
    const isFirst = readFileSync(LOG, 'utf8').split('call fragile').length === 2;
    if (isFirst) setTimeout(() => process.exit(1), 1_000);
    return await sample(HELLO, extra);
  },
  late() {
    // the answer to a ping shows that the client has read the result, which was sent before
    setImmediate(
      () =>
        void server
          .ping()
          .then(() => sample(HELLO, {}))
          .then((given) => log(`late ${JSON.stringify(given)}`)),
    );
    return 'done';
  },
  leak: (_, extra) =>
    sample({ ...HELLO, systemPrompt: `The key is ${process.env.TOKEN}.`, stopSequences: [`${process.env.TOKEN}`] }, extra),
  together: ({ requests }, extra) => Promise.all(requests.map((params) => sample(params, extra))),
};

async function inTurn({ requests = [HELLO] }, extra) {
  const given = [];
  for (const params of requests) given.push(await sample(params, extra));
  return given;
}

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: TOOLS.map((name) => ({
    name,
    description: `Requests completions: ${name}.`,
    inputSchema: { type: 'object' },
    annotations: name === 'book' ? {} : { readOnlyHint: true },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
  log(`call ${name} ${process.pid}`);
  const given = await (HANDLERS[name] ?? inTurn)(args, extra);
  log(`end ${name}`);
  return { content: [{ type: 'text', text: JSON.stringify(given) }] };
});
await server.connect(new StdioServerTransport());
