import { MODEL_LIMITS } from '../contracts/limits.js';
import { parseModelRef } from '../contracts/model-ref.js';
import type { ModelCandidate } from '../contracts/model-route.js';
import type { ThinkingSetting } from '../contracts/thinking.js';
import type { Config } from '../define/define-config.js';
import { modelFacts } from './model-facts.js';
import { type AccessOptions, providerAccess } from './providers/provider-access.js';
import { thinkingOrder } from './thinking-order.js';

/** What a route is made from. */
export interface RouteOptions extends AccessOptions {
  readonly config: Pick<Config, 'providers' | 'credentials' | 'agents' | 'models' | 'prices' | 'contextWindows' | 'thinking'>;
}

/** The models of a run, and how much they are to think. */
export interface RouteRequest {
  readonly model: string;
  readonly fallbacks: readonly string[];
  readonly thinking?: ThinkingSetting | undefined;
}

/** A run's models in order, and what was not as asked for; or why the first one cannot be asked. */
export type ResolvedRoute =
  | { readonly route: readonly [ModelCandidate, ...ModelCandidate[]]; readonly notices: readonly string[] }
  | { readonly problem: string };

/**
 * Looks up everything about the models that a run may ask. The first one must be as asked for; a fallback without a key is left out
 * with a notice, and the same model is not asked twice. Never throws.
 */
export function resolveRoute({ model, fallbacks, thinking }: RouteRequest, options: RouteOptions): ResolvedRoute {
  const first = candidateFor(model, thinking, options);
  if ('problem' in first) return first;
  const others = [...new Set(fallbacks)].filter((name) => name !== model).map((name) => candidateFor(name, thinking, options));
  return {
    route: [first.candidate, ...others.flatMap((found) => ('problem' in found ? [] : [found.candidate]))],
    notices: others.flatMap((found) => ('problem' in found ? [`fallback left out: ${found.problem}`] : [])),
  };
}

/** One model with its keys and facts, or why it cannot be asked. */
export function candidateFor(
  model: string,
  thinking: ThinkingSetting | undefined,
  options: RouteOptions,
): { readonly candidate: ModelCandidate } | { readonly problem: string } {
  const ref = parseModelRef(model);
  if (!ref) return { problem: `model ${JSON.stringify(model.slice(0, 80))}: use provider/model, for example anthropic/claude-sonnet-4-5` };
  const access = providerAccess(ref, options);
  if (access.kind === 'refused') return { problem: `model ${model.slice(0, 200)}: ${access.problem}` };
  const { config } = options;
  const own = Object.hasOwn(config.models ?? {}, model) ? config.models?.[model] : undefined;
  const facts = modelFacts(model, config);
  const setting = own?.thinking ?? thinking ?? config.thinking;
  const order = setting === undefined ? undefined : thinkingOrder(setting, facts);
  if (order && 'problem' in order) return { problem: `model ${model}: BAD_THINKING ${order.problem}` };
  return {
    candidate: {
      model,
      credentials: access.kind === 'server' ? [...access.credentials] : [],
      contextWindow: facts.contextWindow ?? MODEL_LIMITS.contextWindowDefault,
      ...(facts.price ? { price: facts.price } : {}),
      ...(setting === undefined ? {} : { thinking: setting }),
      ...(own?.times ? { times: own.times } : {}),
    },
  };
}
