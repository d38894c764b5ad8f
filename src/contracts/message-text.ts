import type { GivenMessage, Message, ToolCallPart } from './schemas/message.js';

/** The text of a message's text parts, joined by newlines. Never throws. */
export function textOf(message: Message): string {
  return message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}

/** The conversation of a given transcript: all but its system messages. Never throws. */
export function givenConversation(given: readonly GivenMessage[] = []): Message[] {
  return given.filter((message) => message.role !== 'system');
}

/** What the system messages of a given transcript say, a paragraph each; empty without any. Never throws. */
export function givenSystemText(given: readonly GivenMessage[] = []): string {
  const texts = given.flatMap((message) => (message.role === 'system' ? message.parts.map(({ text }) => text.trim()) : []));
  return texts.filter((text) => text !== '').join('\n\n');
}

/** The calls an assistant message asks for, in order. Never throws. */
export function toolCallsOf(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === 'tool_call');
}
