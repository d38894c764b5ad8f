import { z } from 'zod';
import type { WireFormat } from '../../../src/testing/wire-format.js';
import type { WireServer } from '../../../src/testing/wire-server.js';

/** A whole reply, read to its end. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Posts a body as a client of that format would. Rejects when the connection breaks before the reply's end. */
export async function ask(server: WireServer, format: WireFormat['name'], body: unknown, key = server.apiKey): Promise<WireReply> {
  const response = await post(server, format, body, { key });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The same, but the reply's body is still to be read. An empty key is not sent. */
export async function post(
  server: WireServer,
  format: WireFormat['name'],
  body: unknown,
  { key = server.apiKey, signal }: { readonly key?: string; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const anthropic = format === 'anthropic';
  const url = anthropic ? `${server.anthropicBaseUrl}/v1/messages` : `${server.openaiBaseUrl}/chat/completions`;
  const keyHeader: Record<string, string> = anthropic ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
  return await fetch(url, {
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
  delta: z.object({ text: z.string().optional() }).optional(),
});

/** The text that the deltas of a stream put together. */
export function textOfStream(format: WireFormat['name'], stream: string): string {
  const data = [...stream.matchAll(/^data: (\{.+)$/gmu)].map((match) => Delta.parse(JSON.parse(match[1] ?? '')));
  return data.map((event) => (format === 'anthropic' ? event.delta?.text : event.choices?.[0]?.delta.content) ?? '').join('');
}
