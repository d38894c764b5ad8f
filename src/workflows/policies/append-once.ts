import type { Message } from '../../contracts/schemas/message.js';

/**
 * A transcript with a user's message at its end. The same words as the last message are not said twice: the new one takes its place.
 * The same words further up are another matter, and stay.
 */
export function appendOnce(messages: readonly Message[], message: Message): Message[] {
  const last = messages.at(-1);
  const isSaid = last?.role === 'user' && last.origin === undefined && JSON.stringify(last.parts) === JSON.stringify(message.parts);
  return [...(isSaid ? messages.slice(0, -1) : messages), message];
}
