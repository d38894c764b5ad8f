import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { Reasoning } from 'openai/resources/shared';
import { levelOfTokens } from '../../../contracts/models/thinking-tokens.js';
import type { ProviderQuirks } from '../../../define/provider-quirks.js';
import type { ModelRequest, ProviderSettings, ThinkingOrder } from '../../contract/provider.js';
import { toDialect } from '../../schema/schema-dialect.js';
import { toolNames } from '../../transcript/tool-names.js';
import { promptCacheKey } from '../client.js';
import { toResponsesInput } from './input.js';

/** A request's body; the limit of its output is always said. */
export type ResponsesBody = ResponseCreateParamsStreaming & { readonly max_output_tokens: number };

/** The API refuses a lower output limit. */
const OUTPUT_TOKENS_MIN = 16;

/** OpenAI's models without thinking refuse every word about it. */
const NEVER_THINKS = /^(?:ft:)?(?:gpt-[34]|chatgpt-)/u;

/**
 * One request in the words of the Responses API. The server is told to keep nothing, so reasoning comes and goes encrypted. Prompt, tools
 * and items are the same bytes in each request of a run up to where the transcript grew.
 */
export function toResponsesBody(request: ModelRequest, settings: ProviderSettings): ResponsesBody {
  const { model, prompt, thinking, outputTokensMax, temperature } = request;
  const { quirks = {} } = settings;
  const mayThink = quirks.thinkingField !== 'none' && !NEVER_THINKS.test(model);
  const cacheKey = promptCacheKey(request, settings);
  return {
    model,
    ...(prompt.trim() === '' ? {} : { instructions: prompt }),
    input: toResponsesInput(request, settings),
    stream: true,
    store: false,
    max_output_tokens: Math.max(OUTPUT_TOKENS_MIN, outputTokensMax),
    ...(temperature === undefined || (mayThink && thinking) ? {} : { temperature }),
    ...(mayThink && thinking ? { reasoning: toReasoning(thinking) } : {}),
    ...(mayThink && thinking?.style !== 'off' ? { include: ['reasoning.encrypted_content'] } : {}),
    ...toolFields(request, quirks),
    ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
  };
}

/** What goes with tools; none of it may be said where there are none. Unless it is told, the API makes a schema strict by itself. */
function toolFields(
  { tools, toolChoice }: ModelRequest,
  { schemaDialect = 'json-schema', parallelToolCalls }: ProviderQuirks,
): Pick<ResponseCreateParamsStreaming, 'tools' | 'tool_choice' | 'parallel_tool_calls'> {
  if (tools.length === 0) return {};
  const names = toolNames(tools);
  return {
    tools: tools.map(({ name, description, schema }) => {
      const converted = toDialect(schema, schemaDialect);
      return { type: 'function', name: names.wire(name), description, parameters: converted.schema, strict: converted.strict };
    }),
    tool_choice: toolChoice,
    ...(parallelToolCalls === false ? { parallel_tool_calls: false } : {}),
  };
}

/** The API knows levels only: for a number of tokens stands the level that is worth as much. */
function toReasoning(order: ThinkingOrder): Reasoning {
  if (order.style === 'off') return { effort: 'none' };
  return { effort: order.style === 'budget' ? levelOfTokens(order.tokens) : order.effort, summary: 'auto' };
}
