import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { Reasoning } from 'openai/resources/shared';
import type { ModelRequest, ThinkingOrder } from './provider.js';
import type { ProviderSettings } from './provider-settings.js';
import { toResponsesInput } from './responses-input.js';

/** A request's body; the limit of its output is always said. */
export type ResponsesBody = ResponseCreateParamsStreaming & { readonly max_output_tokens: number };

/** The API refuses a lower output limit. */
const OUTPUT_TOKENS_MIN = 16;

/** Above these budgets a model that is told by levels is told `medium`, and `high`. */
const MEDIUM_TOKENS = 4_096;
const HIGH_TOKENS = 16_384;

/** The host that serves OpenAI's own models. */
const OPENAI_HOST = 'api.openai.com';

/** OpenAI's models without thinking refuse every word about it. */
const NEVER_THINKS = /^(?:ft:)?(?:gpt-[34]|chatgpt-)/u;

/** One request in the words of the Responses API. The server is told to keep nothing, so reasoning comes and goes encrypted. */
export function toResponsesBody(request: ModelRequest, { baseUrl, quirks = {} }: ProviderSettings, origin: string): ResponsesBody {
  const { model, prompt, thinking, cacheKey } = request;
  const tools = request.tools.map(({ name, description, schema }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: schema,
    strict: false,
  }));
  const mayThink = quirks.thinkingField !== 'none' && !NEVER_THINKS.test(model);
  const hasCache = quirks.promptCacheKey ?? new URL(baseUrl).hostname === OPENAI_HOST;
  return {
    model,
    ...(prompt.trim() === '' ? {} : { instructions: prompt }),
    input: toResponsesInput(request.messages, { origin, images: quirks.images }),
    stream: true,
    store: false,
    max_output_tokens: Math.max(OUTPUT_TOKENS_MIN, request.outputTokensMax),
    ...(mayThink && thinking ? { reasoning: toReasoning(thinking) } : {}),
    ...(mayThink && thinking?.style !== 'off' ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(tools.length > 0 ? { tools, tool_choice: request.toolChoice } : {}),
    ...(tools.length > 0 && quirks.parallelToolCalls === false ? { parallel_tool_calls: false } : {}),
    ...(hasCache && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {}),
  };
}

function toReasoning(order: ThinkingOrder): Reasoning {
  if (order.style === 'off') return { effort: 'none' };
  return { effort: order.style === 'budget' ? effortFor(order.tokens) : order.effort, summary: 'auto' };
}

/** The API knows no budgets of tokens. */
function effortFor(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens >= HIGH_TOKENS) return 'high';
  return tokens >= MEDIUM_TOKENS ? 'medium' : 'low';
}
