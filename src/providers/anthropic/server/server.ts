import type { IncomingHttpHeaders } from 'node:http';
import { EVENT_STREAM, type FormatServer, WireRefusal } from '../../format/format-server.js';
import { conversationName } from '../../scripted/script-player.js';
import { ANTHROPIC_PING, anthropicDocument, anthropicEvents, type MessagesRequest } from './answer.js';
import { type AnthropicBlock, type AnthropicMessage, type AnthropicRequest, parseAnthropicRequest } from './request.js';
import { blocksOf, checkAnthropicRules } from './rules.js';
import { boundPrefix, checkThinkingRules } from './thinking-rules.js';

/** Anthropic's messages, as strict as the hosted API and the platforms that resell it. */
export const ANTHROPIC_SERVER: FormatServer<MessagesRequest> = {
  name: 'anthropic',
  path: '/v1/messages',
  contentType: EVENT_STREAM,
  requestIdHeader: 'request-id',
  ping: ANTHROPIC_PING,
  overflowMessage: 'prompt is too long: 210000 tokens > 200000 maximum',
  terminal: 'event: message_stop',
  keyIn: headerKey,
  refuseKey: (key) =>
    new WireRefusal(401, key === undefined ? 'x-api-key header is required' : 'invalid x-api-key', { type: 'authentication_error' }),
  check(body, headers) {
    if (headers['anthropic-version'] === undefined) throw new WireRefusal(400, 'anthropic-version: header is required');
    const request = parseAnthropicRequest(body);
    checkAnthropicRules(request);
    checkThinkingRules(request);
    return toWireRequest(request);
  },
  errorBody: (refusal, requestId) => ({
    type: 'error',
    error: { type: refusal.details.type ?? typeOf(refusal.status), message: refusal.message },
    request_id: requestId,
  }),
  errorEvent: ({ type, message }) => `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`,
  events: anthropicEvents,
  document: anthropicDocument,
};

function headerKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return key;
  return headers.authorization?.match(/^Bearer (.+)$/u)?.[1];
}

function toWireRequest(request: AnthropicRequest): MessagesRequest {
  const { messages, tools = [], system = '' } = request;
  const prompt = typeof system === 'string' ? system : system.map((block) => block.text).join('\n');
  const prefix = boundPrefix(request);
  const results = messages.flatMap(blocksOf).filter((block) => block.type === 'tool_result');
  return {
    view: {
      conversation: conversationName(prompt, withoutCacheMarks(messages[0])),
      answered: messages.reduce((sum, message) => sum + answersIn(message), 0),
      lastUser: lastUserText(messages),
      lastToolResult: resultText(results.at(-1)),
      tools: tools.map((tool) => tool.name),
      final: request.tool_choice?.type === 'none',
      inputChars: () => JSON.stringify([system, messages, tools]).length,
    },
    model: request.model,
    stream: request.stream ?? false,
    streamUsage: true,
    ...(prefix === undefined ? {} : { prefix }),
  };
}

/** Answers that follow each other without a word between them, as paused ones do, come in one message: each begins by thinking or text. */
function answersIn(message: AnthropicMessage): number {
  if (message.role !== 'assistant') return 0;
  const types = blocksOf(message).map(({ type }) => type);
  const begins = types.filter((type, index) => type === 'thinking' || (type === 'text' && types[index - 1] !== 'thinking'));
  return Math.max(1, begins.length);
}

/** A user's message may also hold tool results: the last one with text of its own counts. */
function lastUserText(messages: readonly AnthropicMessage[]): string {
  const texts = messages.map((message) => (message.role === 'user' ? textIn(blocksOf(message)) : ''));
  return texts.findLast((text) => text !== '') ?? '';
}

function resultText(result: Extract<AnthropicBlock, { type: 'tool_result' }> | undefined): string {
  const content = result?.content ?? '';
  return typeof content === 'string' ? content : textIn(content);
}

function textIn(blocks: readonly AnthropicBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** A mark that moves from message to message must not make a new conversation of it. */
function withoutCacheMarks(message: AnthropicMessage | undefined): unknown {
  return message && blocksOf(message).map((block) => ({ ...block, cache_control: undefined }));
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 413) return 'request_too_large';
  if (status === 429) return 'rate_limit_error';
  if (status === 529) return 'overloaded_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}
