import type { GivenMessage } from './given-message.js';
import type { Message } from './schemas/message.js';

/** The conversation of a given transcript: all but its system messages. Never throws. */
export function givenConversation(given: readonly GivenMessage[] = []): Message[] {
  return given.filter((message) => message.role !== 'system');
}

/** What the system messages of a given transcript say, a paragraph each; empty without any. Never throws. */
export function givenSystemText(given: readonly GivenMessage[] = []): string {
  const texts = given.flatMap((message) => (message.role === 'system' ? message.parts.map(({ text }) => text.trim()) : []));
  return texts.filter((text) => text !== '').join('\n\n');
}
