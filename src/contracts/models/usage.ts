import type { ModelPrice, Usage } from '../schemas/model.js';

/** Cost of one call in USD. Compute it for each call, because a long prompt may have its own price. */
export function costOf(usage: Usage, price: ModelPrice): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, imageTokens = 0 } = usage;
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output, image = input } = priceAt(price, inputTokens);
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  // images that were read from the cache have the cache price
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

/** The prices of a call with this number of input tokens. */
export function priceAt(price: ModelPrice, inputTokens: number): Omit<ModelPrice, 'longPrompt'> {
  return price.longPrompt && inputTokens > price.longPrompt.aboveTokens ? price.longPrompt : price;
}

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(a.imageTokens === undefined && b.imageTokens === undefined ? {} : { imageTokens: (a.imageTokens ?? 0) + (b.imageTokens ?? 0) }),
  };
}

/** True for a valid Usage: its five numbers, optionally `imageTokens`, and nothing else. Never throws. */
export function isUsage(value: unknown): value is Usage {
  if (value === null || typeof value !== 'object') return false;
  const { imageTokens, ...counts }: Readonly<Record<string, unknown>> = { ...value };
  const names = Object.keys(NO_USAGE);
  const isWhole = Object.keys(counts).length === names.length && names.every((name) => Number.isFinite(counts[name]));
  return isWhole && (!('imageTokens' in value) || Number.isFinite(imageTokens));
}

/** A usage of zero. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
