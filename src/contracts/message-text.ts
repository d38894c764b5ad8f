import type { GivenMessage, Message, ToolCallPart } from './schemas/message.js';

/** The text parts of a message, joined by newlines. Never throws. */
export function textOf(message: Message): string {
  return message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}

/** The messages of a given transcript without its system messages. Never throws. */
export function givenConversation(given: readonly GivenMessage[] = []): Message[] {
  return given.filter((message) => message.role !== 'system');
}

/** The text of the system messages of a given transcript, one paragraph each. Empty without system messages. Never throws. */
export function givenSystemText(given: readonly GivenMessage[] = []): string {
  const texts = given.flatMap((message) => (message.role === 'system' ? message.parts.map(({ text }) => text.trim()) : []));
  return texts.filter((text) => text !== '').join('\n\n');
}

/** The answers of a run, from its transcript. A conversation that it copied from earlier runs is before its task. Never throws. */
export function answersOf(messages: readonly Message[]): readonly Message[] {
  const task = messages.findLastIndex(({ role, origin }) => role === 'user' && origin === undefined);
  return messages.slice(task + 1).filter(({ role }) => role === 'assistant');
}

/** True for the reserved final answer, by the id that the worker gives it. Never throws. */
export function isFinalAnswer({ id }: Message): boolean {
  return id.endsWith('_final');
}

/** The tool calls of an assistant message, in order. Never throws. */
export function toolCallsOf(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === 'tool_call');
}
