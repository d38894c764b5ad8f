import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import { MODEL_LIMITS, THINKING_LIMITS } from '../../contracts/constants/limits.js';
import { tokensOfThinking } from '../../contracts/models/thinking-tokens.js';
import type { ThinkingOrder } from '../contract/provider.js';
import type { AnthropicMessage } from './messages.js';

/** How much to think, and what the answer may have in all. */
export interface ThinkingWish {
  readonly order: ThinkingOrder | undefined;
  readonly outputTokensMax: number;
}

/** The fields of a request that say how to think. `thinks`: the request asks for thinking. */
export type AnthropicThinkingFields = Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> & { readonly thinks: boolean };

/**
 * How a request asks for thinking. A budget is part of the output limit, and never more of it than leaves room for an answer; without
 * room for the least budget, and in the midst of calls whose answer began without thinking, the model does not think: the API refuses both.
 */
export function anthropicThinking(
  { order, outputTokensMax }: ThinkingWish,
  messages: readonly AnthropicMessage[],
): AnthropicThinkingFields {
  if (!order) return { thinks: false };
  if (order.style === 'off') return NO_THINKING;
  if (order.style === 'adaptive') {
    // newer models show nothing of what they think unless they are asked to
    const effort = order.effort === 'minimal' ? 'low' : order.effort;
    return { thinks: true, thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } };
  }
  const wanted = order.style === 'budget' ? order.tokens : tokensOfThinking(order.effort);
  const budget = Math.min(Math.max(wanted, THINKING_LIMITS.budgetTokensMin), roomForThinking(outputTokensMax));
  if (budget < THINKING_LIMITS.budgetTokensMin || continuesWithoutThinking(messages)) return NO_THINKING;
  return { thinks: true, thinking: { type: 'enabled', budget_tokens: budget } };
}

const NO_THINKING: AnthropicThinkingFields = { thinks: false, thinking: { type: 'disabled' } };

/** What is left beside a usual answer; half of a limit that has no room for both. */
function roomForThinking(outputTokensMax: number): number {
  return Math.max(outputTokensMax - MODEL_LIMITS.outputTokensDefault, Math.floor(outputTokensMax / 2));
}

/** The results that come last belong to an answer that does not begin by thinking: of another model, say. */
function continuesWithoutThinking(messages: readonly AnthropicMessage[]): boolean {
  if (messages.at(-1)?.content[0]?.type !== 'tool_result') return false;
  const first = messages.at(-2)?.content[0]?.type;
  return first !== 'thinking' && first !== 'redacted_thinking';
}
