// A server that asks the person of a run during its calls, over stdio. It writes what happens to the file LOG.
import { appendFileSync, readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const LOG = process.env.LOG;
const log = (line) => LOG && appendFileSync(LOG, `${line}\n`);
const READ = { readOnlyHint: true };
const PLACE = {
  place: {
    type: 'string',
    title: 'Place',
    oneOf: [
      { const: 'eu-1', title: 'Frankfurt' },
      { const: 'us-1', title: 'Ohio' },
    ],
  },
};
const FORM = {
  name: { type: 'string', description: 'Your name', minLength: 2, maxLength: 10 },
  mail: { type: 'string', format: 'email' },
  nights: { type: 'integer', minimum: 1, maximum: 30 },
  pets: { type: 'boolean' },
  meals: { type: 'array', items: { type: 'string', enum: ['breakfast', 'lunch', 'dinner'] }, maxItems: 2 },
};
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const ask = (message, properties, required) => ({ message, requestedSchema: object(properties, required) });

const TOOLS = {
  book: { about: 'Books a place.', ask: ask('Where\u001b[31m to?', PLACE) },
  look: { about: 'Looks at a place.', annotations: READ, ask: ask('Which place?', PLACE) },
  reserve: { about: 'Reserves.', ask: ask('Who stays?', FORM, ['name', 'nights']) },
  confirm: { about: 'Confirms.', ask: ask('Really?', {}) },
  rate: { about: 'Rates.', annotations: READ, ask: ask('How many stars?', { stars: { type: 'integer', minimum: 1, maximum: 5 } }) },
  many: { about: 'Asks seven questions.' },
  brief: { about: 'Gives up soon.', annotations: READ },
  leak: { about: 'Asks with its key.', annotations: READ },
  fragile: { about: 'Ends with its process the first time.', annotations: READ },
  flood: { about: 'Asks what nobody can answer.', annotations: READ },
  late: { about: 'Asks after its end.', annotations: READ },
  link: { about: 'Asks to open a page.', annotations: READ },
  sample: { about: 'Asks the model.', annotations: READ },
};

const LINK = { mode: 'url', message: 'Open it.', elicitationId: 'e1', url: 'https://example.com' };

const FLOODS = [
  ask('x'.repeat(1_000_000), Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, { type: 'string' }]))),
  ask('Choose.', { one: { type: 'string', enum: Array.from({ length: 1_000 }, (_, n) => `choice ${n}`) } }),
  ask('Choose.', { one: { type: 'string', enum: ['a', 'a\u200b', 'b'] } }),
  ask('   ', PLACE),
];

const HANDLERS = {
  async many(elicit) {
    const seen = [];
    for (let n = 1; n <= 7; n += 1)
      seen.push(
        await elicit(ask(`Question ${n}?`, PLACE)).then(
          ({ action }) => action,
          ({ message }) => message,
        ),
      );
    return seen;
  },
  brief: (elicit) =>
    elicit(TOOLS.look.ask, { timeout: 500 }).then(
      () => 'answered',
      () => 'gave up',
    ),
  leak: (elicit) => elicit(ask(`Is ${process.env.TOKEN} yours?`, {})),
  fragile(elicit) {
    const isFirst = readFileSync(LOG, 'utf8').split('call fragile').length === 2;
    if (isFirst) setTimeout(() => process.exit(1), 1_000);
    return elicit(TOOLS.look.ask);
  },
  async flood(elicit) {
    return await Promise.all(
      FLOODS.map((params) =>
        elicit(params).then(
          () => 'asked',
          ({ message }) => message,
        ),
      ),
    );
  },
  late(elicit, server) {
    // the answer to a ping shows that the client has read the result, which was sent before
    setImmediate(() =>
      server
        .ping()
        .then(() => server.elicitInput(TOOLS.look.ask))
        .then(
          () => log('late answer'),
          ({ message }) => log(`late ${message}`),
        ),
    );
    return 'done';
  },
  link: (_, server) =>
    server.request({ method: 'elicitation/create', params: LINK }, ElicitResultSchema).then(
      () => 'opened',
      ({ code, message }) => `${code} ${message}`,
    ),
  sample: (_, server) =>
    server.request({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 10 } }, CreateMessageResultSchema).then(
      () => 'sampled',
      ({ code, message }) => `${code} ${message}`,
    ),
};

function makeServer() {
  const server = new Server({ name: 'asking', version: '1' }, { capabilities: { tools: {} } });
  server.oninitialized = () => log(`client ${JSON.stringify(server.getClientCapabilities())}`);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, { about, annotations = {} }]) => ({
      name,
      description: about,
      inputSchema: { type: 'object' },
      annotations,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
    log(`call ${name} ${process.pid}`);
    const elicit = (params, options = {}) =>
      server.elicitInput(params, { timeout: 600_000, signal: extra.signal, relatedRequestId: extra.requestId, ...options });
    const given = await (HANDLERS[name]?.(elicit, server) ?? elicit(TOOLS[name].ask).catch(({ message }) => ({ refused: message })));
    log(`end ${name} ${JSON.stringify(given)}`);
    return { content: [{ type: 'text', text: JSON.stringify({ ...args, given }) }] };
  });
  return server;
}

await makeServer().connect(new StdioServerTransport());
