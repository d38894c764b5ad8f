import { WireRefusal } from '../../../format/format-server.js';
import type { ChatMessage, ChatRequest } from './request.js';

/**
 * The rules of chat completions that no schema tells: each call has its result right after it, each result its call, one system
 * message, first. Throws a WireRefusal in the API's words.
 */
export function checkChatRules(request: ChatRequest): void {
  checkOptions(request);
  checkSystem(request.messages);
  checkPairs(request.messages);
  checkTools(request);
}

function checkOptions(request: ChatRequest): void {
  if (request.stream_options && !request.stream) {
    throw refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options');
  }
  if (request.tool_choice !== undefined && !request.tools) {
    throw refuse("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice');
  }
  if (request.max_tokens && request.max_completion_tokens) {
    throw refuse("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", 'max_tokens');
  }
}

/** The hosted API takes more than one; many compatible servers refuse it, so that a client must not rely on it. */
function checkSystem(messages: readonly ChatMessage[]): void {
  const late = messages.findIndex((message, index) => index > 0 && (message.role === 'system' || message.role === 'developer'));
  if (late !== -1) throw refuse('System message must be at the beginning.', `messages.[${late}].role`);
  if (messages.every((message) => message.role === 'system' || message.role === 'developer')) {
    throw refuse('Conversation must have at least one message that is not a system message.', 'messages');
  }
}

function checkPairs(messages: readonly ChatMessage[]): void {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) throw refuseOrphan(index);
      continue;
    }
    if (open.size > 0) throw refuseUnanswered(open, index);
    if (message.role === 'assistant') open = callsIn(message, index);
  }
  if (open.size > 0) throw refuseUnanswered(open, messages.length);
}

function callsIn(message: Extract<ChatMessage, { role: 'assistant' }>, index: number): Set<string> {
  const ids = (message.tool_calls ?? []).map((call) => call.id);
  if (ids.length === 0 && (message.content === undefined || message.content === null)) {
    throw refuse("Invalid value for 'content': expected a string, got null.", `messages.[${index}].content`);
  }
  const unique = new Set(ids);
  if (unique.size < ids.length) throw refuse('Duplicate tool_call ids within one message.', `messages.[${index}].tool_calls`);
  return unique;
}

function refuseOrphan(index: number): WireRefusal {
  // the API's own spelling
  const message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  return refuse(message, `messages.[${index}].role`);
}

function refuseUnanswered(open: ReadonlySet<string>, index: number): WireRefusal {
  const rule = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  return refuse(`${rule} The following tool_call_ids did not have response messages: ${[...open].join(', ')}`, `messages.[${index}].role`);
}

function checkTools({ tools = [] }: ChatRequest): void {
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const { name, parameters } = tool.function;
    if (names.has(name)) throw refuse(`Duplicate tool name: '${name}'.`, `tools[${index}].function.name`);
    names.add(name);
    if (parameters && parameters['type'] !== 'object') {
      const got = JSON.stringify(parameters['type'] ?? 'None');
      const message = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: ${got}'.`;
      throw new WireRefusal(400, message, { code: 'invalid_function_parameters', param: `tools[${index}].function.parameters` });
    }
  }
}

function refuse(message: string, param: string): WireRefusal {
  return new WireRefusal(400, message, { param });
}
