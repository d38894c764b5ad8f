import type { MessageCreateParamsStreaming, TextBlockParam, Tool, ToolChoice } from '@anthropic-ai/sdk/resources/messages';
import type { ProviderQuirks } from '../../define/provider-quirks.js';
import type { ModelRequest } from '../contract/provider.js';
import { withCalledTools } from '../transcript/mentioned-tools.js';
import { PrefixDigest } from '../transcript/prefix-digest.js';
import { type ToolNames, toolNames } from '../transcript/tool-names.js';
import { CACHE_MARK, markMessages } from './cache-mark.js';
import { AnthropicMessages } from './messages.js';
import { anthropicThinking } from './thinking-config.js';

/** A request in the words of the messages API, and what its answer is read with. */
export interface AnthropicBody {
  readonly body: MessageCreateParamsStreaming;
  readonly names: ToolNames;
  /** The digest of all that the model reads; undefined where thinking is told by budget: no such model asks for the same prefix. */
  readonly after: () => string | undefined;
}

/** Whom a request goes to. */
export interface AnthropicReceiver {
  readonly quirks: ProviderQuirks;
  /** Any JSON that names the server and the account: thinking that one made is not sent to another. */
  readonly account: unknown;
}

/**
 * Writes a request. Prompt, tools and messages are the same bytes in each request of a run up to where the transcript grew; only the
 * marks of what to keep move on. What is said in this request only stands behind the last mark.
 */
export function toAnthropicBody(asked: ModelRequest, { quirks, account }: AnthropicReceiver): AnthropicBody {
  const request = withCalledTools(asked);
  const { model, prompt, thinking, requestOnlyMessages = 0 } = request;
  const names = toolNames(request.tools);
  const tools = toTools(request.tools, names);
  const prefix = new PrefixDigest();
  prefix.add('prompt', [account, prompt]);
  prefix.add('tools', tools);
  const messages = new AnthropicMessages({ model, names, prefix });
  const keptLength = Math.max(0, request.messages.length - requestOnlyMessages);
  const { end } = messages.add(request.messages.slice(0, keptLength));
  messages.add(request.messages.slice(keptLength));
  const { thinks, ...thinkingFields } = anthropicThinking({ order: thinking, outputTokensMax: request.outputTokensMax }, messages.written);
  const body = {
    model,
    max_tokens: request.outputTokensMax,
    ...keptPrompt(prompt, tools),
    messages: markMessages(messages.written, end),
    stream: true as const,
    ...thinkingFields,
    ...(tools.length > 0 ? { tool_choice: toToolChoice(request, { quirks, thinks }) } : {}),
  };
  return { body, names, after: () => (thinkingFields.thinking?.type === 'enabled' ? undefined : prefix.digest()) };
}

/** Tools as they are sent, for as long as anybody holds them: those of a run are the same in each request. */
const known = new WeakMap<ModelRequest['tools'], Tool[]>();

function toTools(tools: ModelRequest['tools'], names: ToolNames): Tool[] {
  const found = known.get(tools);
  if (found) return found;
  const sent = tools.map(({ name, description, schema }) => ({
    name: names.wire(name),
    description,
    input_schema: { ...schema, type: 'object' as const },
  }));
  known.set(tools, sent);
  return sent;
}

/** The prompt stands behind the tools in what a server keeps: its mark is for both. */
function keptPrompt(prompt: string, tools: readonly Tool[]): Pick<MessageCreateParamsStreaming, 'system' | 'tools'> {
  if (prompt.trim() === '') {
    return tools.length > 0
      ? { tools: tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, cache_control: CACHE_MARK } : tool)) }
      : {};
  }
  const system: TextBlockParam[] = [{ type: 'text', text: prompt, cache_control: CACHE_MARK }];
  return { system, ...(tools.length > 0 ? { tools: [...tools] } : {}) };
}

/** A model that thinks can not be forced to call a tool. */
function toToolChoice(
  { toolChoice }: ModelRequest,
  { quirks, thinks }: { readonly quirks: ProviderQuirks; readonly thinks: boolean },
): ToolChoice {
  if (toolChoice === 'none') return { type: 'none' };
  const type = toolChoice === 'required' && !thinks ? 'any' : 'auto';
  return { type, ...(quirks.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}) };
}
