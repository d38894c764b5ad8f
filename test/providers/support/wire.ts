import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import type { ModelProvider, ModelRequest } from '../../../src/providers/contract/provider.js';
import { createOpenAiChatProvider } from '../../../src/providers/openai/chat/chat.js';
import { createOpenAiResponsesProvider } from '../../../src/providers/openai/responses/responses.js';

/** What a test wants a model to answer, in no format yet. */
export interface WireScript {
  readonly thinking?: string;
  readonly text?: string;
  /** Each with its arguments in the pieces in which they stream. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly pieces: readonly string[] }[];
  /** In the format's own word. */
  readonly stop?: string;
}

/** One wire format: how its provider is made and how its events look. */
export interface Wire {
  readonly name: 'chat completions' | 'responses' | 'messages';
  readonly stopWord: Readonly<Record<'end' | 'calls' | 'length' | 'refusal', string>>;
  readonly ping: string;
  provider(url: string, apiKey?: string): ModelProvider;
  /** The events of an answer, each with its blank line. */
  events(script: WireScript): string[];
  /** What the output limit is called. */
  readonly limitField: string;
  errorEvent(error: Readonly<Record<string, unknown>>): string;
  errorBody(error: Readonly<Record<string, unknown>>): unknown;
}

const KEY = 'test-key-0123456789';

const CHAT: Wire = {
  name: 'chat completions',
  stopWord: { end: 'stop', calls: 'tool_calls', length: 'length', refusal: 'content_filter' },
  ping: ': ping\n\n',
  limitField: 'max_tokens',
  provider: (url, apiKey = KEY) => createOpenAiChatProvider({ baseUrl: `${url}/v1`, apiKey }),
  events: (script) => [...chatChunks(script).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'],
  errorEvent: (error) => `data: ${JSON.stringify({ error })}\n\n`,
  errorBody: (error) => ({ error }),
};

function chatChunks({ thinking, text, calls = [], stop }: WireScript): unknown[] {
  const deltas: unknown[] = [{ role: 'assistant', content: '' }];
  if (thinking) deltas.push({ reasoning_content: thinking });
  if (text) deltas.push(...text.split(/(?<= )/u).map((content) => ({ content })));
  for (const [index, { id, name, pieces }] of calls.entries()) {
    deltas.push({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    deltas.push(...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })));
  }
  const reason = stop ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = {
    prompt_tokens: 50,
    completion_tokens: 7,
    total_tokens: 57,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  return [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }], usage: null })),
    { choices: [{ index: 0, delta: {}, finish_reason: reason }], usage: null },
    { choices: [], usage },
  ];
}

const RESPONSES: Wire = {
  name: 'responses',
  stopWord: { end: 'completed', calls: 'completed', length: 'max_output_tokens', refusal: 'content_filter' },
  ping: ': ping\n\n',
  limitField: 'max_output_tokens',
  provider: (url, apiKey = KEY) => createOpenAiResponsesProvider({ baseUrl: `${url}/v1`, apiKey }),
  events: responseEvents,
  errorEvent: ({ type, ...error }) => responseEvent('error', { code: type, param: null, sequence_number: 9, ...error }),
  errorBody: (error) => ({ error }),
};

interface OutputItem {
  readonly item: Readonly<Record<string, unknown>>;
  /** What the item is whole. */
  readonly whole: Readonly<Record<string, unknown>>;
  readonly deltas: readonly (readonly [type: string, fields: Readonly<Record<string, unknown>>])[];
}

function responseEvents({ thinking, text, calls = [], stop = 'completed' }: WireScript): string[] {
  const items = [...(thinking ? [reasoningItem(thinking)] : []), ...(text ? [messageItem(text)] : []), ...calls.map(callItem)];
  const isWhole = stop === 'completed';
  const usage = {
    input_tokens: 50,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 3 },
  };
  const response = {
    id: 'resp_1',
    status: isWhole ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: isWhole ? null : { reason: stop },
    output: items.map(({ whole }) => whole),
    usage,
  };
  return [
    responseEvent('response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } }),
    ...items.flatMap(({ item, whole, deltas }, output_index) => [
      responseEvent('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }),
      ...deltas.map(([type, fields]) => responseEvent(type, { output_index, item_id: item['id'], ...fields })),
      responseEvent('response.output_item.done', { output_index, item: whole }),
    ]),
    responseEvent(isWhole ? 'response.completed' : 'response.incomplete', { response }),
  ];
}

function reasoningItem(thinking: string): OutputItem {
  const item = { id: 'rs_1', type: 'reasoning', summary: [] };
  const summary = [{ type: 'summary_text', text: thinking }];
  return {
    item,
    whole: { ...item, summary, encrypted_content: 'gAAAAc2ln' },
    deltas: [['response.reasoning_summary_text.delta', { summary_index: 0, delta: thinking }]],
  };
}

function messageItem(text: string): OutputItem {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  const deltas = text.split(/(?<= )/u).map((delta) => ['response.output_text.delta', { content_index: 0, delta }] as const);
  return { item, whole: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }, deltas };
}

function callItem({ id, name, pieces }: NonNullable<WireScript['calls']>[number]): OutputItem {
  const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: '' };
  const deltas = pieces.map((delta) => ['response.function_call_arguments.delta', { delta }] as const);
  return { item, whole: { ...item, status: 'completed', arguments: pieces.join('') }, deltas };
}

function responseEvent(type: string, fields: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

const MESSAGES: Wire = {
  name: 'messages',
  stopWord: { end: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' },
  ping: 'event: ping\ndata: {"type":"ping"}\n\n',
  limitField: 'max_tokens',
  provider: (url, apiKey = KEY) => createAnthropicProvider({ baseUrl: url, apiKey }),
  events: (script) => messageEvents(script).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  errorEvent: (error) => `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`,
  errorBody: (error) => ({ type: 'error', error }),
};

type MessageEvent = { readonly type: string } & Record<string, unknown>;

function messageEvents({ thinking, text, calls = [], stop }: WireScript): MessageEvent[] {
  const usage = { input_tokens: 10, cache_read_input_tokens: 30, cache_creation_input_tokens: 10, output_tokens: 1 };
  const blocks: { block: unknown; deltas: unknown[] }[] = [];
  if (thinking) {
    const deltas = [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'c2ln' },
    ];
    blocks.push({ block: { type: 'thinking', thinking: '', signature: '' }, deltas });
  }
  if (text) {
    const deltas = text.split(/(?<= )/u).map((piece) => ({ type: 'text_delta', text: piece }));
    blocks.push({ block: { type: 'text', text: '' }, deltas });
  }
  for (const { id, name, pieces } of calls) {
    const deltas = pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
    blocks.push({ block: { type: 'tool_use', id, name, input: {} }, deltas });
  }
  const reason = stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  const output = { output_tokens: 7, output_tokens_details: { thinking_tokens: 3 } };
  return [
    { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage } },
    ...blocks.flatMap(({ block, deltas }, index): MessageEvent[] => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: output },
    { type: 'message_stop' },
  ];
}

/** All formats, for `describe.each`. */
export const WIRES: readonly Wire[] = [CHAT, RESPONSES, MESSAGES];

/** A request with everything in it that a test does not care for. */
export function modelRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'test-model',
    prompt: 'You help.',
    messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Read a.md and b.md.' }] }],
    tools: [{ name: 'read_file', description: 'Reads a file.', schema: { type: 'object', properties: { path: { type: 'string' } } } }],
    toolChoice: 'auto',
    outputTokensMax: 1_000,
    signal: new AbortController().signal,
    idleMs: 30_000,
    onDelta: () => undefined,
    ...fields,
  };
}
