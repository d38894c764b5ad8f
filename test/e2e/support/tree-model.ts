import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { nextCalls, readPlan } from '../../support/subagents/tree-plan.js';

/** The parts of a request of chat completions that the model reads. */
interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content?: unknown; readonly tool_calls?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: unknown;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

/** A model over the wire that carries out the plan in the task of each run: it calls what the plan says, and answers when it is done. */
export interface TreeModel {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Starts the model. `delayMs`: how long each answer takes, so that there is something to interrupt. */
export async function startTreeModel({ delayMs }: { readonly delayMs: () => number }): Promise<TreeModel> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void serve(request, response, delayMs());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // an address of TCP, as it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, delayMs: number): Promise<void> {
  const chunks = await answerTo(request);
  await delay(delayMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end([...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((line) => `data: ${line}\n\n`).join(''));
}

const ANSWER_TOKENS = 400;

async function answerTo(request: IncomingMessage): Promise<object[]> {
  // the client is the package's own
  const { messages, tools = [], tool_choice, max_tokens, max_completion_tokens } = JSON.parse(await text(request)) as ChatRequest;
  // as much as a real answer costs, within the limit of the request
  const completion_tokens = Math.min(ANSWER_TOKENS, max_completion_tokens ?? max_tokens ?? ANSWER_TOKENS);
  const agent = textOf(messages.find(({ role }) => role === 'system' || role === 'developer')).split('\n')[0] ?? '';
  const plan = readPlan(textOf(messages.find(({ role }) => role === 'user')));
  const offered = new Set(tools.map(({ function: { name } }) => name));
  const answered = messages.filter(({ tool_calls }) => tool_calls !== undefined).length;
  const calls = tool_choice === 'none' ? [] : nextCalls(agent, plan, answered).filter(([name]) => offered.has(name));
  const delta =
    calls.length === 0
      ? { role: 'assistant', content: `done by ${agent}` }
      : {
          role: 'assistant',
          tool_calls: calls.map(([name, args], index) => ({
            index,
            id: `call_${answered}_${index}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(args) },
          })),
        };
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test' };
  return [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }] },
    { ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens } },
  ];
}

function textOf(message: ChatRequest['messages'][number] | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : '')).join('\n');
}
