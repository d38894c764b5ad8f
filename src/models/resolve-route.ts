import { MODEL_LIMITS } from '../contracts/constants/limits.js';
import { parseModelRef } from '../contracts/models/model-ref.js';
import type { ThinkingSetting } from '../contracts/schemas/model.js';
import type { ModelCandidate, ModelTimes } from '../contracts/schemas/model-route.js';
import type { Config } from '../define/define-config.js';
import type { ModelFacts } from '../define/model-options.js';
import { type ProviderAccess, providerAccess } from '../providers/access/provider-access.js';
import type { AccessOptions } from '../providers/contract/access-options.js';
import { executorFormat } from '../providers/registry.js';
import { modelFacts } from './model-facts.js';
import { nearestThinking, thinkingProblem } from './thinking-request.js';

/** The inputs of a route. */
export interface RouteOptions extends AccessOptions {
  readonly config: Pick<
    Config,
    | 'model'
    | 'fallbacks'
    | 'resolve'
    | 'providers'
    | 'credentials'
    | 'agents'
    | 'models'
    | 'prices'
    | 'contextWindows'
    | 'thinking'
    | 'limits'
  >;
}

/** One model as a run requests it. */
export interface CandidateRequest {
  /** `provider/model` */
  readonly model: string;
  /** Over the model's own and the config's. */
  readonly thinking?: ThinkingSetting | undefined;
  /** `strict`: a level that the model does not have is a problem; `nearest`: the one next to it is taken. */
  readonly match: 'strict' | 'nearest';
  /** True when the run has a cost limit, which a model of unknown price cannot keep. */
  readonly needsPrice?: boolean;
}

/** A model with its keys and facts, and notices of what differs from the request; or why it cannot be called. */
export type FoundCandidate = { readonly candidate: ModelCandidate; readonly notices: readonly string[] } | { readonly problem: string };

/** The models of a run, each as `provider/model`, and how much they are to think. */
export interface RouteRequest extends Pick<CandidateRequest, 'thinking' | 'needsPrice'> {
  readonly model: string;
  /** True when the first model replaces the requested one: it may use the nearest thinking level. */
  readonly isReplacement?: boolean;
  readonly fallbacks: readonly string[];
}

/** A run's models in order, and notices of what differs from the request; or why the first one cannot be called. */
export type ResolvedRoute =
  | { readonly route: readonly [ModelCandidate, ...ModelCandidate[]]; readonly notices: readonly string[] }
  | { readonly problem: string };

/**
 * Looks up keys and facts of the models that a run may call. The first one must match the request. A fallback without a key, or without a
 * required price, is left out with a notice. No model appears twice. Never throws.
 */
export function resolveRoute(request: RouteRequest, options: RouteOptions): ResolvedRoute {
  const { model, fallbacks, thinking, needsPrice = false, isReplacement = false } = request;
  // the check of the cost limit reports an unknown price of the first model
  const first = candidateFor({ model, thinking, match: isReplacement ? 'nearest' : 'strict' }, options);
  if ('problem' in first) return first;
  const others = [...new Set(fallbacks)].filter((name) => name !== model);
  const found = others.map((name) => candidateFor({ model: name, thinking, match: 'nearest', needsPrice }, options));
  return {
    route: [first.candidate, ...found.flatMap((each) => ('problem' in each ? [] : [each.candidate]))],
    notices: [first, ...found].flatMap((each) => ('problem' in each ? [`fallback left out: ${each.problem}`] : each.notices)),
  };
}

/** One model with its keys and facts. Never throws. */
export function candidateFor(request: CandidateRequest, options: RouteOptions): FoundCandidate {
  const { model, needsPrice = false } = request;
  const ref = parseModelRef(model);
  if (!ref) return { problem: `model ${JSON.stringify(model.slice(0, 80))}: use provider/model, for example anthropic/claude-sonnet-5` };
  const access = providerAccess(ref, options);
  if (access.kind === 'refused') return { problem: `model ${model.slice(0, 200)}: ${access.problem}` };
  const { config } = options;
  const facts = modelFacts(model, config);
  if (needsPrice && !facts.price) return { problem: `model ${model}: its price is unknown, and the run has a cost limit` };
  const own = Object.hasOwn(config.models ?? {}, model) ? config.models?.[model] : undefined;
  const thinking = thinkingFor(request, request.thinking ?? own?.thinking ?? config.thinking, facts);
  if ('problem' in thinking) return thinking;
  return {
    candidate: {
      model,
      credentials: access.kind === 'server' ? [...access.credentials] : [],
      contextWindow: facts.contextWindow ?? MODEL_LIMITS.contextWindowDefault,
      ...(facts.price ? { price: facts.price } : {}),
      ...(thinking.setting === undefined ? {} : { thinking: thinking.setting }),
      ...timesOf(own?.times, access),
      ...(Object.hasOwn(config.limits?.providers ?? {}, ref.provider) ? { limited: true } : {}),
    },
    notices: thinking.notices,
  };
}

/** An executor may set the time of its calls. */
function timesOf(own: ModelTimes | undefined, access: ProviderAccess): Pick<ModelCandidate, 'times'> {
  const totalMs = access.kind === 'executor' ? executorFormat(access.executor).totalMs(access.executor) : undefined;
  if (totalMs === undefined) return own ? { times: own } : {};
  return { times: { ...own, totalMs } };
}

type Thinking = { readonly setting?: ThinkingSetting; readonly notices: readonly string[] } | { readonly problem: string };

function thinkingFor({ model, match }: CandidateRequest, wanted: ThinkingSetting | undefined, facts: ModelFacts): Thinking {
  if (wanted === undefined) return { notices: [] };
  if (match === 'strict') {
    const problem = thinkingProblem(wanted, model, facts);
    return problem === undefined ? { setting: wanted, notices: [] } : { problem: `model ${model}: BAD_THINKING ${problem}` };
  }
  const { setting, notice } = nearestThinking(wanted, facts);
  return { setting, notices: notice === undefined ? [] : [`model ${model} ${notice}`] };
}
