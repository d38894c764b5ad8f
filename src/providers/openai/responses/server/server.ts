import { EVENT_STREAM, type FormatServer } from '../../../format/format-server.js';
import { conversationName } from '../../../scripted/script-player.js';
import { openAiErrorBody, openAiKeyIn, refuseOpenAiKey } from '../../server/error.js';
import { responsesDocument, responsesEvents } from './answer.js';
import { responsesEvent } from './events.js';
import type { ResponsesWireRequest } from './output.js';
import { itemsOf, parseResponsesRequest, type ResponsesItem, type ResponsesRequest } from './request.js';
import { checkResponsesRules } from './rules.js';

type MessageItem = Extract<ResponsesItem, { type: 'message' }>;

/** OpenAI's Responses API, as strict as the hosted one to a client that lets nothing be kept there. */
export const OPENAI_RESPONSES_SERVER: FormatServer<ResponsesWireRequest> = {
  name: 'openai-responses',
  path: '/v1/responses',
  contentType: EVENT_STREAM,
  requestIdHeader: 'x-request-id',
  ping: ': ping\n\n',
  overflowMessage: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  terminal: '"type":"response.completed"',
  keyIn: openAiKeyIn,
  refuseKey: refuseOpenAiKey,
  check(body) {
    const request = parseResponsesRequest(body);
    checkResponsesRules(request);
    return toWireRequest(request);
  },
  errorBody: openAiErrorBody,
  errorEvent: ({ type, message, eventsBefore }) => responsesEvent('error', { code: type, message, param: null }, eventsBefore),
  events: responsesEvents,
  document: responsesDocument,
};

function toWireRequest(request: ResponsesRequest): ResponsesWireRequest {
  const items = itemsOf(request);
  const { instructions, tools } = request;
  const prompt = [instructions ?? '', ...items.filter(isSystem).map(textIn)].join('\n');
  return {
    view: {
      conversation: conversationName(
        prompt,
        items.find((item) => !isSystem(item)),
      ),
      answered: answersIn(items),
      lastUser: textIn(items.findLast((item) => item.type === 'message' && item.role === 'user')),
      lastToolResult: textIn(items.findLast(({ type }) => type === 'function_call_output')),
      tools: (tools ?? []).map(({ name }) => name),
      final: request.tool_choice === 'none',
      inputChars: () => JSON.stringify([instructions, items, tools]).length,
    },
    model: request.model,
    stream: request.stream ?? false,
    streamUsage: true,
    encrypted: request.include?.includes('reasoning.encrypted_content') ?? false,
    repeated: repeatedFields(request),
  };
}

/** An answer is several items: it begins after what others said, and with each reasoning, or text, that does not belong to one before it. */
function answersIn(items: readonly ResponsesItem[]): number {
  const begins = items.filter((item, index) => {
    const before = items[index - 1];
    if (!isAnswer(item)) return false;
    if (!before || !isAnswer(before)) return true;
    return item.type === 'reasoning' ? before.type !== 'reasoning' : item.type === 'message' && before.type !== 'reasoning';
  });
  return begins.length;
}

function isSystem(item: ResponsesItem): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

function isAnswer(item: ResponsesItem): boolean {
  if (item.type === 'message') return item.role === 'assistant';
  return item.type === 'reasoning' || item.type === 'function_call';
}

function textIn(item: ResponsesItem | undefined): string {
  if (item?.type === 'message') return blocksText(item.content);
  return item?.type === 'function_call_output' ? blocksText(item.output) : '';
}

function blocksText(content: MessageItem['content']): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => ('text' in block ? [block.text] : [])).join('\n');
}

function repeatedFields(request: ResponsesRequest): Readonly<Record<string, unknown>> {
  return {
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
  };
}
