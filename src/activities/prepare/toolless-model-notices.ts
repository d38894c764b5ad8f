import { parseModelRef } from '../../contracts/models/model-ref.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { modelFacts } from '../../models/model-facts.js';
import type { RouteOptions } from '../../models/resolve-route.js';
import { providerAccess } from '../../providers/access/provider-access.js';
import { httpFormat } from '../../providers/registry.js';

/** Says of each model that is known to take no tools that the run offers it some, unless its provider tells them in text. Never throws. */
export function noticeToollessModels(
  route: readonly Pick<ModelCandidate, 'model'>[],
  tools: readonly ToolDescriptor[],
  options: RouteOptions,
): string[] {
  if (tools.length === 0) return [];
  const toolless = route.filter(({ model }) => modelFacts(model, options.config).tools === false && !areToldInText(model, options));
  return toolless.map(
    ({ model }) =>
      `model ${model} is known to take no tools, and the run has ${tools.length}: it may refuse them or call none; ` +
      "use another model, an agent without tools, or toolCallsAsText of the provider's quirks",
  );
}

function areToldInText(model: string, options: RouteOptions): boolean {
  const ref = parseModelRef(model);
  const access = ref && providerAccess(ref, options);
  return access?.kind === 'server' && (httpFormat(access.api).toolsInPrompt === true || access.quirks?.toolCallsAsText !== undefined);
}
