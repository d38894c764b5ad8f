import { z } from 'zod';
import type { HttpApi } from '../../../src/define/provider-definition.js';
import type { WireServer } from '../../../src/testing/wire-server.js';

/** A whole reply, read to its end. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An answer with all that a step of a script can say. */
export const FULL_STEP = {
  thinking: 'Let me see.',
  text: 'I read the notes.',
  toolCalls: [{ name: 'read_file', args: { path: 'notes.md' } }],
  usage: { inputTokens: 120, outputTokens: 30, cacheReadTokens: 100, reasoningTokens: 4 },
};

/** Posts a body as a client of that format would. Rejects when the connection breaks before the reply's end. */
export async function ask(server: WireServer, format: ClientFormat, body: unknown, key = server.apiKey): Promise<WireReply> {
  const response = await post(server, format, body, { key });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The same, but the reply's body is still to be read. An empty key is not sent. */
export async function post(
  server: WireServer,
  format: ClientFormat,
  body: unknown,
  { key = server.apiKey, signal }: { readonly key?: string; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const anthropic = format === 'anthropic';
  const keyHeader: Record<string, string> = anthropic ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
  return await fetch(addressOf(server, format), {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      ...(anthropic ? { 'anthropic-version': '2023-06-01' } : {}),
      ...(key === '' ? {} : keyHeader),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

/** The formats that this client has a request for. */
type ClientFormat = (typeof FORMATS)[number] | 'openai-completions';

function addressOf(server: WireServer, format: ClientFormat): string {
  switch (format) {
    case 'openai-chat':
      return `${server.openaiBaseUrl}/chat/completions`;
    case 'openai-completions':
      return `${server.openaiBaseUrl}/completions`;
    case 'openai-responses':
      return `${server.openaiBaseUrl}/responses`;
    case 'anthropic':
      return `${server.anthropicBaseUrl}/v1/messages`;
  }
}

/** All formats whose requests hold messages, for `describe.each`. */
export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic'] as const satisfies readonly HttpApi[];

/** Fields of a body, in the words of its format but for the conversation. */
export interface BodyFields {
  readonly messages?: readonly object[];
  readonly [field: string]: unknown;
}

/** A right request of a format. Its conversation stands under `messages` in every one, and is put where the format has it. */
export function bodyOf(format: ClientFormat, { messages, ...fields }: BodyFields): object {
  switch (format) {
    case 'openai-chat':
      return chatBody({ ...(messages ? { messages } : {}), ...fields });
    case 'openai-completions':
      return completionsBody(fields);
    case 'openai-responses':
      return responsesBody({ ...(messages ? { input: messages } : {}), ...fields });
    case 'anthropic':
      return messagesBody({ ...(messages ? { messages } : {}), ...fields });
  }
}

/** A right request for a stream that reports its usage. */
export function streamedBodyOf(format: ClientFormat): object {
  return bodyOf(format, { stream: true, ...(format === 'openai-chat' ? { stream_options: { include_usage: true } } : {}) });
}

/** A right completions request: its conversation is a text. */
export function completionsBody(fields: object): object {
  const prompt = '<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\nSort the notes.<|im_end|>\n<|im_start|>assistant\n';
  return { model: 'test-model', prompt, max_tokens: 1_000, ...fields };
}

/** A right request of the Responses API. */
export function responsesBody(fields: object): object {
  return {
    model: 'test-model',
    instructions: 'You help.',
    input: [{ role: 'user', content: 'Sort the notes.' }],
    tools: [{ type: 'function', name: 'read_file', parameters: { type: 'object', properties: {} } }],
    store: false,
    include: ['reasoning.encrypted_content'],
    ...fields,
  };
}

/** A right chat completions request. */
export function chatBody(fields: object): object {
  return {
    model: 'test-model',
    messages: [
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'Sort the notes.' },
    ],
    tools: [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object', properties: {} } } }],
    ...fields,
  };
}

/** A right messages request. */
export function messagesBody(fields: object): object {
  return {
    model: 'test-model',
    max_tokens: 1_000,
    system: 'You help.',
    messages: [{ role: 'user', content: 'Sort the notes.' }],
    tools: [{ name: 'read_file', input_schema: { type: 'object', properties: {} } }],
    ...fields,
  };
}

const Delta = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().optional() }) })).optional(),
  type: z.string().optional(),
  delta: z.union([z.string(), z.object({ text: z.string().optional() })]).optional(),
});

/** The text that the deltas of a stream put together. */
export function textOfStream(stream: string): string {
  const events = [...stream.matchAll(/^data: (\{.+)$/gmu)].map((match) => Delta.parse(JSON.parse(match[1] ?? '')));
  return events.map(textOfEvent).join('');
}

function textOfEvent({ choices, type, delta }: z.infer<typeof Delta>): string {
  if (typeof delta === 'string') return type === 'response.output_text.delta' ? delta : '';
  return delta?.text ?? choices?.[0]?.delta.content ?? '';
}
