import type { ModelPrice, Usage } from './model.js';

/** What a usage costs in USD. */
export function costOf(usage: Usage, price: ModelPrice): number {
  const plain = Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const cost =
    plain * price.input +
    usage.cacheReadTokens * (price.cacheRead ?? price.input) +
    usage.cacheWriteTokens * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output;
  return cost / 1_000_000;
}
