import {
  defineWireFormat,
  type ModelAnswer,
  ModelError,
  type ModelRequest,
  type ProviderServer,
  type WireFormatDefinition,
} from '../../../src/define/index.js';

/** A wire format as a user writes one: chat completions, with nothing but what the door `perdure` exports. */
export const USER_FORMAT: WireFormatDefinition = defineWireFormat({
  name: 'acme-chat',
  create: (server) => ({ call: async (request) => await callAcme(server, request) }),
});

/** One chunk of the stream, as far as it is read. */
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly ToolCallDelta[];
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  } | null;
  readonly error?: { readonly message?: string; readonly type?: string };
}

interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

async function callAcme({ baseUrl, key, fetch, events, failure }: ProviderServer, request: ModelRequest): Promise<ModelAnswer> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key()}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(bodyOf(request)),
    signal: request.signal,
  });
  if (!response.ok) throw await failure(response);
  const answer = new Answer(request);
  for await (const { data } of events(response)) {
    if (data === '[DONE]') break;
    answer.add(JSON.parse(data) as Chunk);
  }
  return answer.complete(response.headers.get('x-request-id') ?? undefined);
}

class Answer {
  readonly #request: ModelRequest;
  readonly #calls: { id: string; name: string; args: string }[] = [];
  #text = '';
  #thinking = '';
  #finish: string | undefined;
  #usage: Chunk['usage'];
  #chunks = 0;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  add({ choices = [], usage, error }: Chunk): void {
    if (error) throw Object.assign(new Error(error.message), { error });
    this.#chunks += 1;
    if (usage) this.#usage = usage;
    const [choice] = choices;
    const thinking = choice?.delta?.reasoning_content ?? '';
    this.#thinking += thinking;
    if (thinking !== '') this.#request.onDelta({ type: 'thinking', text: thinking });
    const text = choice?.delta?.content ?? '';
    this.#text += text;
    if (text !== '') this.#request.onDelta({ type: 'text', text });
    for (const { index, id, function: called } of choice?.delta?.tool_calls ?? []) {
      const call = (this.#calls[index] ??= { id: '', name: '', args: '' });
      call.id ||= id ?? '';
      call.name += called?.name ?? '';
      if (called?.name !== undefined) this.#request.onDelta({ type: 'tool_call', name: called.name });
      call.args += called?.arguments ?? '';
    }
    this.#finish = choice?.finish_reason ?? this.#finish;
  }

  complete(requestId: string | undefined): ModelAnswer {
    const details = requestId === undefined ? {} : { requestId };
    if (this.#chunks === 0) throw new ModelError('Model.EmptyStream', 'the response stream is empty', details);
    if (this.#finish === undefined) throw new ModelError('Model.StreamTruncated', 'the response ended before its finish', details);
    const stops = { stop: 'end', length: 'length', tool_calls: 'tool_calls', content_filter: 'refusal' } as const;
    return {
      parts: [
        ...(this.#thinking === '' ? [] : [{ type: 'thinking' as const, text: this.#thinking }]),
        ...(this.#text === '' ? [] : [{ type: 'text' as const, text: this.#text }]),
        ...this.#calls.map(({ id, name, args }) => ({ type: 'tool_call' as const, callId: id, name, ...argumentsOf(args) })),
      ],
      stop: stops[this.#finish as keyof typeof stops] ?? 'end',
      ...(this.#usage ? { usage: usageOf(this.#usage) } : {}),
      ...details,
    };
  }
}

/** Arguments that are no JSON go to the run as text: it corrects the model. */
function argumentsOf(text: string) {
  try {
    return { args: JSON.parse(text || '{}') };
  } catch {
    return { args: {}, argsText: text };
  }
}

function usageOf({ prompt_tokens, completion_tokens, prompt_tokens_details }: NonNullable<Chunk['usage']>) {
  return {
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    cacheReadTokens: prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
}

function bodyOf({ model, prompt, messages, tools, toolChoice, outputTokensMax }: ModelRequest): object {
  return {
    model,
    messages: [{ role: 'system', content: prompt }, ...messages.flatMap(messageOf)],
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf), tool_choice: toolChoice }),
    max_tokens: outputTokensMax,
    stream: true,
    stream_options: { include_usage: true },
  };
}

function toolOf({ name, description, schema }: ModelRequest['tools'][number]): object {
  return { type: 'function', function: { name, description, parameters: schema } };
}

function messageOf({ role, parts }: ModelRequest['messages'][number]): object[] {
  const results = parts.flatMap((part) =>
    part.type === 'tool_result' ? [{ role: 'tool', tool_call_id: part.callId, content: textOf(part.parts) }] : [],
  );
  const calls = parts.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ id: part.callId, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.args) } }]
      : [],
  );
  const content = textOf(parts);
  if (role === 'tool') return results;
  if (role === 'user') return [{ role, content: parts.map(contentOf) }];
  return [{ role, content: content || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

function contentOf(part: ModelRequest['messages'][number]['parts'][number]): object {
  if (part.type !== 'file' || part.dataBase64 === undefined) return { type: 'text', text: textOf([part]) };
  return { type: 'image_url', image_url: { url: `data:${part.mime};base64,${part.dataBase64}` } };
}

function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : part.type === 'file' ? '[a file]' : '')).join('');
}
