import { type AiSdkFamily, aiSdkFamily } from './ai-sdk-family.js';
import { toAiSdkMessages } from './ai-sdk-messages.js';
import type { AiSdkCall, AiSdkModel, AiSdkOptions } from './ai-sdk-model.js';
import type { ModelRequest } from './provider.js';
import { toolNames } from './tool-names.js';

/** What a call is made with beside the request. */
export interface AiSdkCallOptions {
  /** The config's own, which win. */
  readonly providerOptions: AiSdkOptions;
  readonly signal: AbortSignal;
}

/** A request as a model of the AI SDK takes it, in the words of its version and of its family. */
export function toAiSdkCall(model: AiSdkModel, request: ModelRequest, { providerOptions, signal }: AiSdkCallOptions): AiSdkCall {
  const family = aiSdkFamily(model.provider);
  const reasoning = model.specificationVersion === 'v4' ? commonReasoning(request) : undefined;
  return {
    prompt: toAiSdkMessages(request, model),
    maxOutputTokens: request.outputTokensMax,
    ...toolsOf(request, family),
    ...(reasoning ? { reasoning } : {}),
    providerOptions: joined({ [family.name]: familyOptions(family, request, { tellsThinking: !reasoning }) }, providerOptions),
    abortSignal: signal,
    // raw chunks tell that the connection lives while the package has nothing to say, as of a ping
    includeRawChunks: true,
  };
}

function toolsOf({ tools, toolChoice, thinking }: ModelRequest, family: AiSdkFamily): Pick<AiSdkCall, 'tools' | 'toolChoice'> {
  if (tools.length === 0) return {};
  const names = toolNames(tools);
  const thinks = thinking !== undefined && thinking.style !== 'off';
  return {
    tools: tools.map(({ name, description, schema }) => ({ type: 'function', name: names.wire(name), description, inputSchema: schema })),
    toolChoice: { type: toolChoice === 'required' && thinks && family.thinksUnforced ? 'auto' : toolChoice },
  };
}

/** Since version 4 there is a word for all providers, and each package knows its models; it has none for tokens. */
function commonReasoning({ thinking }: ModelRequest): AiSdkCall['reasoning'] {
  if (!thinking || thinking.style === 'budget') return undefined;
  return thinking.style === 'off' ? 'none' : thinking.effort;
}

function familyOptions(
  family: AiSdkFamily,
  { thinking, cacheKey }: ModelRequest,
  { tellsThinking }: { readonly tellsThinking: boolean },
): AiSdkOptions[string] {
  return {
    ...family.defaults,
    ...(thinking && tellsThinking ? family.thinking(thinking) : {}),
    ...(cacheKey === undefined || family.cacheKeyOption === undefined ? {} : { [family.cacheKeyOption]: cacheKey }),
  };
}

function joined(own: AiSdkOptions, given: AiSdkOptions): AiSdkOptions {
  const names = [...new Set([...Object.keys(own), ...Object.keys(given)])];
  const options = names.map((name) => [name, { ...own[name], ...given[name] }] as const);
  return Object.fromEntries(options.filter(([, values]) => Object.keys(values).length > 0));
}
