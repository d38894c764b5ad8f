import type { CompletionUsage } from 'openai/resources/completions';
import type { Usage } from '../../contracts/schemas/model.js';
import { reportedUsage } from '../transcript/usage.js';

/** What a completion, of a chat or of a text, reports to have used; undefined when it reports none, or nonsense. */
export function completionUsage(usage: CompletionUsage | null | undefined): Usage | undefined {
  if (!usage) return undefined;
  const apart = thinkingApart(usage);
  return reportedUsage({
    input: usage.prompt_tokens,
    output: apart > 0 ? usage.completion_tokens + apart : usage.completion_tokens,
    cacheRead: usage.prompt_tokens_details?.cached_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? apart,
    inputDetails: usage.prompt_tokens_details,
  });
}

/**
 * Thinking is paid as output. xAI and Gemini count it in the total alone: what that has beyond prompt and answer, unless it is what a
 * gateway took from a cache.
 */
function thinkingApart({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: total,
  prompt_tokens_details,
}: CompletionUsage): number {
  const isCounted = [input, output, total].every((count) => typeof count === 'number' && count >= 0);
  const rest = isCounted ? total - input - output : 0;
  return rest > 0 && rest !== prompt_tokens_details?.cached_tokens ? rest : 0;
}

/** The same in the words of the API, as a server reports it. */
export function toCompletionUsage(usage: Usage): CompletionUsage {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
