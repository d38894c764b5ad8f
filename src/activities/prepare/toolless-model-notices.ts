import { parseModelRef } from '../../contracts/models/model-ref.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { modelFacts } from '../../models/model-facts.js';
import type { RouteOptions } from '../../models/resolve-route.js';
import { providerAccess } from '../../providers/access/provider-access.js';
import { httpFormat } from '../../providers/registry.js';

/** Notices about models without tool support in a run with tools, unless the tools are sent as text in the prompt. Never throws. */
export function noticeToollessModels(
  route: readonly Pick<ModelCandidate, 'model'>[],
  tools: readonly ToolDescriptor[],
  options: RouteOptions,
): string[] {
  if (tools.length === 0) return [];
  const toolless = route.filter(({ model }) => modelFacts(model, options.config).tools === false && !areSentAsText(model, options));
  return toolless.map(
    ({ model }) =>
      `model ${model} is known to support no tools, and the run has ${tools.length}: it may reject the request or call none; ` +
      "use a different model, an agent without tools, or toolCallsAsText of the provider's quirks",
  );
}

function areSentAsText(model: string, options: RouteOptions): boolean {
  const ref = parseModelRef(model);
  const access = ref && providerAccess(ref, options);
  return access?.kind === 'server' && (httpFormat(access.api).toolsInPrompt === true || access.quirks?.toolCallsAsText !== undefined);
}
