import type { ToolChoice } from '../../contracts/schemas/model.js';
import type { ModelRequest, ThinkingOrder } from '../contract/provider.js';
import { withCalledTools } from '../transcript/mentioned-tools.js';
import { toolNames } from '../transcript/tool-names.js';
import { type AiSdkFamily, aiSdkFamily } from './family.js';
import { toAiSdkMessages } from './messages.js';
import type { AiSdkCall, AiSdkMessage, AiSdkModel, AiSdkOptions } from './model.js';

/** What a call is made with beside the request. */
export interface AiSdkCallOptions {
  /** The config's own, which win. */
  readonly providerOptions: AiSdkOptions;
  readonly signal: AbortSignal;
}

/** A request as a model of the AI SDK takes it, in the words of its version and of its family. */
export function toAiSdkCall(model: AiSdkModel, asked: ModelRequest, { providerOptions, signal }: AiSdkCallOptions): AiSdkCall {
  const family = aiSdkFamily(model.provider);
  const request = family.needsCalledTools ? withCalledTools(asked) : asked;
  const prompt = toAiSdkMessages(request, model);
  const order = family.thinksInBlocks && request.thinking && continuesWithoutThinking(prompt) ? NO_THINKING : request.thinking;
  const { options, addedTokens = 0 } = (order && family.thinking?.({ order, outputTokensMax: request.outputTokensMax })) ?? { options: {} };
  const own = { ...family.defaults, ...options, ...cacheKeyOption(family, request) };
  return {
    prompt,
    maxOutputTokens: request.outputTokensMax - addedTokens,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...toolsOf(request, toolChoiceOf(model, { request, order })),
    ...(model.specificationVersion === 'v4' && !family.thinking ? commonReasoning(order) : {}),
    providerOptions: joined({ [family.name]: own }, providerOptions),
    abortSignal: signal,
    // raw chunks tell that the connection lives while the package has nothing to say, as of a ping
    includeRawChunks: true,
  };
}

const NO_THINKING: ThinkingOrder = { style: 'off' };

/** The results that come last belong to an answer that does not begin by thinking: of another model, say. */
function continuesWithoutThinking(prompt: readonly AiSdkMessage[]): boolean {
  if (prompt.at(-1)?.role !== 'tool') return false;
  const answer = prompt.findLast(({ role }) => role === 'assistant');
  return answer?.role === 'assistant' && answer.content[0]?.type !== 'reasoning';
}

interface Asked {
  readonly request: ModelRequest;
  readonly order: ThinkingOrder | undefined;
}

/** What a family does not take is `auto`: calls that come all the same are dropped by whoever forbade them. */
function toolChoiceOf({ provider, specificationVersion }: AiSdkModel, { request, order }: Asked): ToolChoice {
  const { toolChoice } = request;
  const { thinksInBlocks, dropsForbiddenTools } = aiSdkFamily(provider);
  const isUnforceable = toolChoice === 'required' && thinksInBlocks && order !== undefined && order.style !== 'off';
  const isDropped = toolChoice === 'none' && dropsForbiddenTools && specificationVersion === 'v2';
  return isUnforceable || isDropped ? 'auto' : toolChoice;
}

function toolsOf({ tools }: ModelRequest, type: ToolChoice): Pick<AiSdkCall, 'tools' | 'toolChoice'> {
  if (tools.length === 0) return {};
  const names = toolNames(tools);
  return {
    tools: tools.map(({ name, description, schema }) => ({ type: 'function', name: names.wire(name), description, inputSchema: schema })),
    toolChoice: { type },
  };
}

/** Since version 4 there is a word for all providers; it has none for tokens. */
function commonReasoning(order: ThinkingOrder | undefined): Pick<AiSdkCall, 'reasoning'> {
  if (!order || order.style === 'budget') return {};
  return { reasoning: order.style === 'off' ? 'none' : order.effort };
}

function cacheKeyOption({ cacheKeyOption: option }: AiSdkFamily, { cacheKey }: ModelRequest): AiSdkOptions[string] {
  return cacheKey === undefined || option === undefined ? {} : { [option]: cacheKey };
}

function joined(own: AiSdkOptions, given: AiSdkOptions): AiSdkOptions {
  const names = [...new Set([...Object.keys(own), ...Object.keys(given)])];
  const options = names.map((name) => [name, { ...own[name], ...given[name] }] as const);
  return Object.fromEntries(options.filter(([, values]) => Object.keys(values).length > 0));
}
