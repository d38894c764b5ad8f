import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** A chat server whose model can call tools, in front of one whose model cannot. */
export interface ToolsProxy {
  readonly url: string;
  /** How many requests it has answered. */
  readonly answered: () => number;
  close(): Promise<void>;
}

const Tool = z.object({
  function: z.object({ name: z.string(), description: z.string().default(''), parameters: z.json().default({ type: 'object' }) }),
});
const Message = z.looseObject({
  role: z.string(),
  content: z.json().optional(),
  tool_calls: z.array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) })).optional(),
});
const Question = z.looseObject({
  messages: z.array(Message),
  tools: z.array(Tool).default([]),
  tool_choice: z.enum(['auto', 'none', 'required']).default('auto'),
});
type Question = z.infer<typeof Question>;

const Usage = z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() });
const Answer = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }), finish_reason: z.string() })]),
  usage: Usage,
});
const Turn = z.union([z.object({ tool: z.string(), arguments: z.json() }), z.object({ answer: z.string() })]);

/**
 * Starts it. A model of a hundred million parameters never calls a tool by itself: it is made to answer in JSON that is either a call or
 * a text, whichever it likes, and its JSON goes on as a streamed call or text. What it calls, with what, and when it ends is the model's own.
 */
export async function startToolsProxy(upstream: string): Promise<ToolsProxy> {
  let answered = 0;
  const server = createServer((request, response) => {
    answer(upstream, request, response).then(
      () => void (answered += 1),
      (error: unknown) => response.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify({ error: String(error) })),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // a TCP server always has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answered: () => answered,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(upstream: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const question = Question.parse(JSON.parse(await text(request)));
  const left = new AbortController();
  response.once('close', () => left.abort());
  const reply = await fetch(`${upstream}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(inWords(question)),
    signal: left.signal,
  });
  if (!reply.ok) return void response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text());
  const { choices, usage } = Answer.parse(await reply.json());
  const [{ message, finish_reason: finishReason }] = choices;
  const asksTurn = question.tools.length > 0 && question.tool_choice !== 'none';
  const chunks = asksTurn ? turnChunks(message.content, finishReason) : textChunks(message.content, finishReason);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of [...chunks, { choices: [], usage }]) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** The question without tools: they are told in the prompt, and the form of the answer is forced. */
function inWords({ tools, tool_choice: choice, messages, ...fields }: Question): object {
  const plain = messages.map(plainMessage);
  const rest = { ...fields, stream: false, stream_options: undefined };
  if (tools.length === 0 || choice === 'none') return { ...rest, messages: plain };
  const calls = tools.map(({ function: { name, parameters } }) => ({
    type: 'object',
    properties: { tool: { const: name }, arguments: parameters },
    required: ['tool', 'arguments'],
  }));
  const said = { type: 'object', properties: { answer: { type: 'string', maxLength: 200 } }, required: ['answer'] };
  const schema = { anyOf: choice === 'auto' ? [...calls, said] : calls };
  const list = tools.map(({ function: { name, description } }) => `${name}: ${description}`).join('\n');
  const hint = `Answer in JSON: {"tool": NAME, "arguments": {…}} calls a tool, {"answer": TEXT} ends the task.\nTools:\n${list}`;
  return {
    ...rest,
    messages: [{ role: 'system', content: hint }, ...plain],
    response_format: { type: 'json_schema', json_schema: { name: 'turn', schema } },
  };
}

/** Calls and results in words, for the model's own template knows neither. */
function plainMessage({ role, content, tool_calls: calls }: z.infer<typeof Message>): object {
  if (role === 'tool') {
    const result = typeof content === 'string' ? content : JSON.stringify(content);
    return { role: 'user', content: `The tool answered: ${result}\nIf the task is done, answer: {"answer": TEXT}` };
  }
  if (!calls) return { role, content };
  const said = calls.map(({ function: { name, arguments: args } }) => `{"tool": "${name}", "arguments": ${args}}`);
  return { role, content: said.join('\n') };
}

/** A turn that the output limit cut is no JSON: it stays a text. */
function turnChunks(content: string, finishReason: string): object[] {
  const turn = finishReason === 'length' ? undefined : Turn.parse(JSON.parse(content));
  if (!turn) return textChunks(content, finishReason);
  if ('answer' in turn) return textChunks(turn.answer, finishReason);
  const call = { index: 0, id: `call_${randomUUID().slice(0, 8)}`, type: 'function', function: { name: turn.tool, arguments: '' } };
  const pieces = piecesOf(JSON.stringify(turn.arguments));
  return [
    chunk({ role: 'assistant', content: null, tool_calls: [call] }),
    ...pieces.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    chunk({}, 'tool_calls'),
  ];
}

function textChunks(content: string, finishReason: string): object[] {
  return [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(content).map((piece) => chunk({ content: piece })),
    chunk({}, finishReason),
  ];
}

function piecesOf(whole: string): readonly string[] {
  return whole.match(/.{1,8}/gsu) ?? [];
}

function chunk(delta: object, finishReason: string | null = null): object {
  return { id: 'chatcmpl-proxy', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] };
}
