import type { CacheControlEphemeral, ContentBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { AnthropicMessage, BlockPlace } from './messages.js';

/** Marks the end of what the server may keep: the next request reads all before it at a tenth of the price. */
export const CACHE_MARK: CacheControlEphemeral = { type: 'ephemeral' };

/**
 * Marks the last block that the next request will have too, so that it reads what this one wrote; and the one that the request before
 * this one marked, because a server looks back from a mark over twenty blocks only, and one answer may bring more.
 */
export function markMessages(messages: readonly AnthropicMessage[], end: BlockPlace | undefined): AnthropicMessage[] {
  if (!end) return [...messages];
  const places = [previousEnd(messages, end), end].filter((place) => place !== undefined);
  return messages.map((message, index) =>
    places.filter((place) => place.message === index).reduce((marked, { block }) => markBlock(marked, block), message),
  );
}

/** The request before ended with what stands before the newest answer. */
function previousEnd(messages: readonly AnthropicMessage[], { message }: BlockPlace): BlockPlace | undefined {
  const answer = messages.slice(0, message + 1).findLastIndex(({ role }) => role === 'assistant');
  const before = messages[answer - 1];
  return before && { message: answer - 1, block: before.content.length - 1 };
}

/** Thinking can not carry a mark: then the block before it does. */
function markBlock(message: AnthropicMessage, last: number): AnthropicMessage {
  const place = message.content.slice(0, last + 1).findLastIndex(isMarkable);
  return {
    ...message,
    content: message.content.map((block, index) => (index === place ? { ...block, cache_control: CACHE_MARK } : block)),
  };
}

function isMarkable({ type }: ContentBlockParam): boolean {
  return type === 'text' || type === 'image' || type === 'document' || type === 'tool_use' || type === 'tool_result';
}
