import type { ContentPart, Message, Part, TextPart } from '../../../src/contracts/schemas/message.js';

/** A message of these parts; a string is one of text. */
export function message(role: Message['role'], ...parts: readonly (Part | string)[]): Message {
  return { id: 'm', role, parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)) };
}

/** A call of the tool `note`. */
export function call(callId: string, fields: object = {}): Part {
  return { type: 'tool_call', callId, name: 'note', args: { line: 1 }, ...fields };
}

/** What the tool gave. */
export function result(callId: string, ...parts: ContentPart[]): Part {
  return { type: 'tool_result', callId, isError: false, parts };
}

/** A part of text. */
export function text(words: string): TextPart {
  return { type: 'text', text: words };
}
