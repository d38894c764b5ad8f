import type { ModelPrice, Usage } from '../schemas/model.js';

/** What the usage of one call costs in USD. Of several calls each has its own cost, because a long prompt may have its own price. */
export function costOf(usage: Usage, price: ModelPrice): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, imageTokens = 0 } = usage;
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output, image = input } = priceAt(price, inputTokens);
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  // pictures that were read from the cache are paid as such
  const pictures = Math.min(imageTokens, fresh);
  const thoughts = Math.min(reasoningTokens, outputTokens);
  const cost =
    (fresh - pictures) * input +
    pictures * image +
    cacheReadTokens * cacheRead +
    cacheWriteTokens * cacheWrite +
    (outputTokens - thoughts) * output +
    thoughts * reasoning;
  return cost / 1_000_000;
}

/** The prices of a call with so much input. */
export function priceAt(price: ModelPrice, inputTokens: number): Omit<ModelPrice, 'longPrompt'> {
  return price.longPrompt && inputTokens > price.longPrompt.aboveTokens ? price.longPrompt : price;
}
