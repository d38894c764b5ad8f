import type { Message } from '../../contracts/schemas/message.js';

/** True for a message that has more in it than blanks and thinking. Providers refuse others, and nobody was answered by them. */
export function saysSomething({ parts }: Pick<Message, 'parts'>): boolean {
  return parts.some((part) => (part.type === 'text' ? part.text.trim() !== '' : part.type !== 'thinking'));
}
