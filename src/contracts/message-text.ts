import type { Message } from './schemas/message.js';

/** The text of a message's text parts, joined by newlines. Never throws. */
export function textOf(message: Message): string {
  return message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}
