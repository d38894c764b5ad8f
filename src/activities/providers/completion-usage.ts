import type { CompletionUsage } from 'openai/resources/completions';
import type { Usage } from '../../contracts/model.js';
import { reportedUsage } from './reported-usage.js';

/** What a completion, of a chat or of a text, reports to have used; undefined when it reports none, or nonsense. */
export function completionUsage(usage: CompletionUsage | null | undefined): Usage | undefined {
  if (!usage) return undefined;
  return reportedUsage({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    cacheRead: usage.prompt_tokens_details?.cached_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens,
    inputDetails: usage.prompt_tokens_details,
  });
}
