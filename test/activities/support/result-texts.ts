import type { Message } from '../../../src/contracts/schemas/message.js';

/** The texts of all tool results, in order. */
export function resultTexts(messages: readonly Message[] = []): string[] {
  return messages
    .flatMap((message) => message.parts)
    .filter((part) => part.type === 'tool_result')
    .map((part) => part.parts.map((content) => (content.type === 'text' ? content.text : '')).join(''));
}
