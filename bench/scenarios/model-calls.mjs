import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { StreamedAnswer } from '../../dist/activities/call-model/streamed-answer.js';
import { ThinkingBudget } from '../../dist/activities/call-model/thinking-budget.js';
import { createAnthropicProvider } from '../../dist/providers/anthropic/anthropic.js';
import { toAnthropicBody } from '../../dist/providers/anthropic/body.js';
import { toChatBody } from '../../dist/providers/openai/chat/body.js';
import { createOpenAiChatProvider } from '../../dist/providers/openai/chat/chat.js';
import { toResponsesBody } from '../../dist/providers/openai/responses/body.js';
import { createOpenAiResponsesProvider } from '../../dist/providers/openai/responses/responses.js';
import { longTranscript } from '../long-transcript.mjs';
import { median, round, timesOf } from '../statistics.mjs';

const CHUNKS = 1_000;
const ROUNDS = 60;
/** Chunks that leave the server together, as a fast model's do. */
const BURST = 50;

const chunk = (index) => `word ${index} `;
const event = (data, name) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

/** The three wire formats: the events of an answer, the bare SDK, our provider, and how a request is written. */
const FORMATS = {
  'openai-chat': {
    events: chatEvents,
    bare: async (baseURL, body) => {
      const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 });
      let text = '';
      for await (const part of await client.chat.completions.create({ ...body, stream: true }))
        text += part.choices[0]?.delta?.content ?? '';
      return text;
    },
    provider: (baseUrl) => createOpenAiChatProvider({ baseUrl, apiKey: 'k' }),
    write: (request) => toChatBody(request, { baseUrl: 'https://api.openai.com/v1', apiKey: 'k' }).body,
  },
  'openai-responses': {
    events: responsesEvents,
    bare: async (baseURL, { model }) => {
      const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 });
      let text = '';
      for await (const part of await client.responses.create({ model, input: 'go', stream: true, store: false })) {
        if (part.type === 'response.output_text.delta') text += part.delta;
      }
      return text;
    },
    provider: (baseUrl) => createOpenAiResponsesProvider({ baseUrl, apiKey: 'k' }),
    write: (request) => toResponsesBody(request, { baseUrl: 'https://api.openai.com/v1', apiKey: 'k' }, 'origin'),
  },
  anthropic: {
    events: messagesEvents,
    bare: async (baseURL, { model }) => {
      const client = new Anthropic({ apiKey: 'k', baseURL: baseURL.replace('/v1', ''), maxRetries: 0 });
      let text = '';
      const stream = await client.messages.create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'go' }], stream: true });
      for await (const part of stream) if (part.type === 'content_block_delta') text += part.delta.text;
      return text;
    },
    provider: (baseUrl) => createAnthropicProvider({ baseUrl: baseUrl.replace('/v1', ''), apiKey: 'k' }),
    write: (request) => toAnthropicBody(request, { quirks: {}, account: 'bench' }).body,
  },
};

/**
 * (j): what a streamed call of 1,000 chunks costs beside the bare SDK, how soon the first token reaches a watcher, and what it costs to
 * write a request of 400 messages. `keptShare`: the part of a request whose bytes are those of the one before, which a provider's cache gives.
 */
export async function modelCalls() {
  const formats = {};
  for (const [name, format] of Object.entries(FORMATS)) formats[name] = await measureFormat(format);
  const all = Object.values(formats);
  return {
    formats,
    addedMs: Math.max(...all.map(({ addedMs }) => addedMs)),
    addedMiB: Math.max(...all.map(({ addedMiB }) => addedMiB)),
    timeRatio: Math.max(...all.map(({ timeRatio }) => timeRatio)),
    firstTokenMs: Math.max(...all.map(({ firstTokenMs }) => firstTokenMs)),
    writeMs: Math.max(...all.map(({ writeMs }) => writeMs)),
    keptShare: Math.min(...all.map(({ keptShare }) => keptShare)),
  };
}

async function measureFormat({ events, bare, provider, write }) {
  const server = await startServer(events());
  try {
    const body = { model: 'm', messages: [{ role: 'user', content: 'go' }] };
    const own = provider(server.url);
    const ours = () => ask(own, server);
    const theirs = () => bare(server.url, body);
    if ((await ours()).text !== (await theirs())) throw new Error('the two read different texts');
    const times = { ours: [], theirs: [], first: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.theirs.push(await timed(theirs));
      let asked;
      times.ours.push(await timed(async () => (asked = await ours())));
      times.first.push(asked.firstTokenMs);
    }
    const [mine, floor] = [median(times.ours), median(times.theirs)];
    return {
      bareMs: round(floor),
      oursMs: round(mine),
      addedMs: round(mine - floor),
      timeRatio: round(mine / floor),
      firstTokenMs: round(median(times.first)),
      addedMiB: round((await retained(ours)) - (await retained(theirs))),
      writeMs: timesOf(() => JSON.stringify(write(longRequest(400))), 60).median,
      keptShare: keptShare(write),
    };
  } finally {
    await server.close();
  }
}

/** Our provider with what the activity has around it: watchers and the budget of thinking. */
async function ask(provider, server) {
  let firstTokenAt;
  const sink = {
    publish: ({ type }) => {
      if (type === 'text') firstTokenAt ??= performance.now();
    },
    flush: () => Promise.resolve(),
  };
  const streamed = new StreamedAnswer(sink, { runId: 'r', turn: 1, attempt: 1, epoch: 1 }, false);
  const thinking = new ThinkingBudget();
  const answer = await provider.call({
    ...longRequest(1),
    signal: AbortSignal.any([AbortSignal.timeout(60_000), thinking.spent]),
    onDelta: (delta) => {
      streamed.add(delta);
      thinking.add(delta);
    },
  });
  await streamed.end();
  return { text: answer.parts.map(({ text }) => text).join(''), answer, firstTokenMs: firstTokenAt - server.firstChunkAt() };
}

const TOOLS = Array.from({ length: 20 }, (_, index) => ({
  name: `tool_${index}`,
  description: `Does the thing of number ${index}, and says what came of it.`,
  schema: { type: 'object', properties: { path: { type: 'string' }, limit: { type: 'integer' } }, required: ['path'] },
}));
const LONG = longTranscript({ messages: 402, resultChars: 2_000 });

function longRequest(messages) {
  return {
    model: 'm',
    prompt: 'You are measured. '.repeat(100),
    messages: LONG.slice(0, messages),
    tools: TOOLS,
    toolChoice: 'auto',
    outputTokensMax: 8_192,
    idleMs: 60_000,
    cacheKey: 'bench',
    signal: new AbortController().signal,
    onDelta: () => undefined,
  };
}

/** Of a request in the midst of a run: how much of it stands at the same place in the one before it. Marks of the cache move, and are not looked at. */
function keptShare(write) {
  const text = (messages) => JSON.stringify(write(longRequest(messages))).replaceAll(/,"cache_control":\{[^}]*\}/gu, '');
  const [before, after] = [text(398), text(400)];
  let same = 0;
  while (before[same] === after[same]) same += 1;
  return round(same / before.length);
}

/** What the process holds more while the answer is held, in MiB. */
async function retained(call) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const held = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 10; index += 1) held.push(await call());
  collect();
  const after = process.memoryUsage().heapUsed;
  if (held.length !== 10) throw new Error('an answer is missing');
  return (after - before) / held.length / 2 ** 20;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function startServer(events) {
  let firstChunkAt = 0;
  const server = createServer(async (request, response) => {
    request.resume();
    await new Promise((resolve) => request.on('end', resolve));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    firstChunkAt = performance.now();
    for (let index = 0; index < events.length; index += BURST) {
      response.write(events.slice(index, index + BURST).join(''));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    firstChunkAt: () => firstChunkAt,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function chatEvents() {
  const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const parts = Array.from({ length: CHUNKS }, (_, index) => event({ ...base, choices: [{ index: 0, delta: { content: chunk(index) } }] }));
  const usage = { prompt_tokens: 10, completion_tokens: CHUNKS, total_tokens: CHUNKS + 10 };
  return [
    ...parts,
    event({ ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    event({ ...base, choices: [], usage }),
    'data: [DONE]\n\n',
  ];
}

function responsesEvents() {
  const text = Array.from({ length: CHUNKS }, (_, index) => chunk(index)).join('');
  const part = { type: 'output_text', text, annotations: [] };
  const item = { id: 'm1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
  const usage = { input_tokens: 10, output_tokens: CHUNKS, total_tokens: CHUNKS + 10 };
  const at = { item_id: 'm1', output_index: 0, content_index: 0 };
  const list = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...Array.from({ length: CHUNKS }, (_, index) => ({ type: 'response.output_text.delta', ...at, delta: chunk(index) })),
    { type: 'response.output_text.done', ...at, text },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ];
  return list.map((data, index) => event({ ...data, sequence_number: index }, data.type));
}

function messagesEvents() {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage };
  const list = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: CHUNKS }, (_, index) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: chunk(index) },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: CHUNKS } },
    { type: 'message_stop' },
  ];
  return list.map((data) => event(data, data.type));
}
