import { conversationName } from '../activities/providers/script-player.js';
import { chatDocument, chatEvents } from './chat-completions-answer.js';
import { type ChatMessage, type ChatRequest, parseChatRequest } from './chat-completions-request.js';
import { checkChatRules } from './chat-completions-rules.js';
import type { WireFormat, WireQuestion } from './wire-format.js';
import { WireRefusal } from './wire-refusal.js';

/** OpenAI's chat completions, as strict as the hosted API and its strictest imitations. */
export const CHAT_COMPLETIONS: WireFormat = {
  name: 'openai-chat',
  path: '/v1/chat/completions',
  requestIdHeader: 'x-request-id',
  ping: ': ping\n\n',
  overflowMessage: "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
  keyIn: (headers) => headers.authorization?.match(/^Bearer (.+)$/u)?.[1],
  refuseKey,
  check(body) {
    const request = parseChatRequest(body);
    checkChatRules(request);
    return questionOf(request);
  },
  errorBody: (refusal) => errorBody(refusal.message, refusal.details.type ?? typeOf(refusal.status), refusal.details),
  errorEvent: (type, message) => `data: ${JSON.stringify(errorBody(message, type))}\n\n`,
  events: chatEvents,
  document: chatDocument,
};

/** Like the API's own text it shows a part of the key: what reads it must not pass it on. */
function refuseKey(key: string | undefined): WireRefusal {
  const details = { type: 'invalid_request_error', code: 'invalid_api_key' };
  if (key === undefined)
    return new WireRefusal(401, "You didn't provide an API key. Send it in an Authorization header with Bearer auth.", details);
  const shown = `${key.slice(0, 8)}${'*'.repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`;
  return new WireRefusal(401, `Incorrect API key provided: ${shown}.`, details);
}

function questionOf(request: ChatRequest): WireQuestion {
  const { messages, tools = [] } = request;
  const rest = messages.filter((message) => !isSystem(message));
  return {
    view: {
      conversation: conversationName(messages.filter(isSystem).map(textIn).join('\n'), rest[0]),
      answered: rest.filter((message) => message.role === 'assistant').length,
      lastUser: textIn(rest.findLast((message) => message.role === 'user')),
      lastToolResult: textIn(rest.findLast((message) => message.role === 'tool')),
      tools: tools.map((tool) => tool.function.name),
      final: request.tool_choice === 'none',
      inputChars: () => JSON.stringify([messages, tools]).length,
    },
    model: request.model,
    stream: request.stream ?? false,
    streamUsage: request.stream_options?.include_usage ?? false,
  };
}

function isSystem(message: ChatMessage): boolean {
  return message.role === 'system' || message.role === 'developer';
}

function textIn(message: ChatMessage | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

function errorBody(message: string, type: string, details: { readonly code?: string; readonly param?: string } = {}): unknown {
  return { error: { message, type, param: details.param ?? null, code: details.code ?? null } };
}

function typeOf(status: number): string {
  if (status === 429) return 'requests';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
