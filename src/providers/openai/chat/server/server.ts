import { EVENT_STREAM, type FormatServer, type WireRequest } from '../../../format/format-server.js';
import { conversationName } from '../../../scripted/script-player.js';
import { openAiError, openAiErrorBody, openAiKeyIn, refuseOpenAiKey } from '../../server/error.js';
import { chatDocument, chatEvents } from './answer.js';
import { type ChatMessage, type ChatRequest, parseChatRequest } from './request.js';
import { checkChatRules } from './rules.js';

/** OpenAI's chat completions, as strict as the hosted API and its strictest imitations. */
export const OPENAI_CHAT_SERVER: FormatServer = {
  name: 'openai-chat',
  path: '/v1/chat/completions',
  contentType: EVENT_STREAM,
  requestIdHeader: 'x-request-id',
  ping: ': ping\n\n',
  overflowMessage: "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
  terminal: '"finish_reason":"tool_calls"',
  keyIn: openAiKeyIn,
  refuseKey: refuseOpenAiKey,
  check(body) {
    const request = parseChatRequest(body);
    checkChatRules(request);
    return toWireRequest(request);
  },
  errorBody: openAiErrorBody,
  errorEvent: ({ type, message }) => `data: ${JSON.stringify({ error: openAiError(message, type) })}\n\n`,
  events: chatEvents,
  document: chatDocument,
};

function toWireRequest(request: ChatRequest): WireRequest {
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
