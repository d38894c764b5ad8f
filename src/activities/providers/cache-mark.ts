import type { CacheControlEphemeral, ContentBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { AnthropicMessage } from './anthropic-messages.js';

/** Marks the end of what the server may keep: the next request reads all before it at a tenth of the price. */
export const CACHE_MARK: CacheControlEphemeral = { type: 'ephemeral' };

/** Marks the last block of the transcript, so that each request reads what the one before it wrote. */
export function markLastBlock(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (!last || !block) return [...messages];
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), marked(block)] }];
}

/** Thinking can not carry a mark. */
function marked(block: ContentBlockParam): ContentBlockParam {
  const { type } = block;
  return type === 'text' || type === 'image' || type === 'tool_use' || type === 'tool_result'
    ? { ...block, cache_control: CACHE_MARK }
    : block;
}
