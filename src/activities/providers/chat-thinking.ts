import { levelOfTokens } from '../../contracts/models/thinking-tokens.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';
import type { ThinkingOrder } from '../../providers/contract/provider.js';

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** The fields in which servers of chat completions are told how much to think. Only the first is OpenAI's own. */
export interface ChatThinking {
  readonly reasoning_effort?: Effort;
  /** OpenRouter */
  readonly reasoning?: { readonly effort: Effort } | { readonly max_tokens: number } | { readonly enabled: false };
  /** vLLM, SGLang and llama.cpp, for models whose template asks */
  readonly chat_template_kwargs?: { readonly enable_thinking: boolean };
  /** DeepSeek and others */
  readonly thinking?: { readonly type: 'enabled' | 'disabled' };
}

/** How much to think, in the field that a server has for it; nothing where it has none, or nothing is asked for. Never throws. */
export function chatThinking(order: ThinkingOrder | undefined, { thinkingField = 'reasoning_effort' }: ProviderQuirks): ChatThinking {
  if (!order) return {};
  switch (thinkingField) {
    case 'reasoning_effort':
      return { reasoning_effort: effortOf(order) };
    case 'reasoning':
      return { reasoning: reasoningOf(order) };
    case 'enable_thinking':
      return { chat_template_kwargs: { enable_thinking: order.style !== 'off' } };
    case 'thinking':
      return { thinking: { type: order.style === 'off' ? 'disabled' : 'enabled' } };
    case 'none':
      return {};
  }
}

function reasoningOf(order: ThinkingOrder): NonNullable<ChatThinking['reasoning']> {
  if (order.style === 'off') return { enabled: false };
  return order.style === 'budget' ? { max_tokens: order.tokens } : { effort: order.effort };
}

/** A field for levels takes no number of tokens: the level that is worth as much stands for it. */
function effortOf(order: ThinkingOrder): Effort {
  if (order.style === 'off') return 'none';
  return order.style === 'budget' ? levelOfTokens(order.tokens) : order.effort;
}
