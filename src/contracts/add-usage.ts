import type { Usage } from './schemas/model.js';

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
