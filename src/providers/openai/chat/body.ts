import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { levelOfTokens } from '../../../contracts/models/thinking-tokens.js';
import type { ProviderQuirks } from '../../../define/provider-quirks.js';
import type { ModelRequest, ProviderSettings, ThinkingOrder } from '../../contract/provider.js';
import { toDialect } from '../../schema/schema-dialect.js';
import { type ToolNames, toolNames } from '../../transcript/tool-names.js';
import { isOpenAiHost, promptCacheKey } from '../client.js';
import { toOpenAiMessages } from './messages.js';

/** A request in the words of chat completions, and what its answer is read with. */
export interface ChatBody {
  readonly body: Omit<ChatCompletionCreateParamsStreaming, 'reasoning_effort'> & ChatThinking;
  readonly names: ToolNames;
}

/**
 * Writes a request as the server of the settings takes it. Prompt, tools and messages are the same bytes in each request of a run up to
 * where the transcript grew, so that what a server keeps of a prompt is found again.
 */
export function toChatBody(request: ModelRequest, settings: ProviderSettings): ChatBody {
  const { quirks = {} } = settings;
  const names = toolNames(request.tools);
  const cacheKey = promptCacheKey(request, settings);
  const body = {
    model: request.model,
    messages: toOpenAiMessages(request, settings),
    stream: true as const,
    ...(quirks.streamUsage === false ? {} : { stream_options: { include_usage: true } }),
    ...outputLimit(request, settings),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...toolFields(request, { names, quirks }),
    ...chatThinking(request.thinking, quirks),
    ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
  };
  return { body, names };
}

/** OpenAI's own models take only the new name of the limit; many compatible servers ignore or refuse it and know the old one. */
function outputLimit(
  { outputTokensMax }: ModelRequest,
  { baseUrl, quirks }: ProviderSettings,
): Pick<ChatCompletionCreateParamsStreaming, 'max_tokens' | 'max_completion_tokens'> {
  const field = quirks?.outputLimitField ?? (isOpenAiHost(baseUrl) ? 'max_completion_tokens' : 'max_tokens');
  return { [field]: outputTokensMax };
}

/** What goes with tools; none of it may be said where there are none. */
function toolFields(
  { tools, toolChoice, thinking }: ModelRequest,
  { names, quirks }: { readonly names: ToolNames; readonly quirks: ProviderQuirks },
): Pick<ChatCompletionCreateParamsStreaming, 'tools' | 'tool_choice' | 'parallel_tool_calls'> {
  if (tools.length === 0) return {};
  // told by this field, models think unless they are told not to, and cannot be forced while they do
  const mayForce = quirks.thinkingField !== 'thinking' || thinking?.style === 'off';
  return {
    tools: tools.map(({ name, description, schema }) => {
      const converted = toDialect(schema, quirks.schemaDialect ?? 'json-schema');
      return {
        type: 'function' as const,
        function: { name: names.wire(name), description, parameters: converted.schema, ...(converted.strict ? { strict: true } : {}) },
      };
    }),
    tool_choice: toolChoice === 'required' && !mayForce ? 'auto' : toolChoice,
    ...(quirks.parallelToolCalls === false ? { parallel_tool_calls: false } : {}),
  };
}

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
