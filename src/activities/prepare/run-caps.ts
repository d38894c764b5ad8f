import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { ModelPrice } from '../../contracts/schemas/model.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import { PRESETS } from '../../define/presets.js';
import { MODELS_AS_OF } from '../../models/catalog/models.js';
import { modelFacts } from '../../models/model-facts.js';
import { failure } from '../runtime/failures.js';

/** The limits of a run: the input's, else the agent's, else its preset's, else the defaults. */
export type RunCaps = Pick<PreparedRun, 'maxTurns' | 'maxTokens' | 'maxCostUsd' | 'deadlineMs'>;

/** Resolves the limits. An absent field is no limit. */
export function resolveCaps(input: RunInput, agent: AgentDefinition, config: Config): RunCaps {
  const preset = agent.preset === undefined ? undefined : PRESETS[agent.preset];
  const { budget = {} } = agent;
  const ownDeadlineMs = budget.deadlineMs ?? preset?.deadlineMs;
  // the share of a sub-agent is what its parent can give: the agent's own limit stays
  const limit = input.parent ? lower : (given: number | undefined, own: number | undefined) => given ?? own;
  const maxTokens = limit(input.maxTokens, budget.maxTokens);
  const maxCostUsd = limit(input.maxCostUsd, budget.maxCostUsd);
  const deadlineMs = limit(input.deadlineMs, ownDeadlineMs);
  return {
    maxTurns: input.maxTurns ?? agent.maxTurns ?? preset?.maxTurns ?? config.limits?.maxTurns ?? RUN_LIMITS.maxTurnsDefault,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** The facts for the price of a run. */
export interface Pricing {
  readonly model: string;
  readonly price: ModelPrice | undefined;
  readonly caps: RunCaps;
  /** Start although the price is unknown. */
  readonly allowUnknownPrice: boolean;
  /** The money of the run's tenant is limited. */
  readonly limitsCost?: boolean;
}

/** The price of a run's model. Throws `Input.Invalid` when `maxCostUsd`, or the limit of the tenant, needs an unknown price, unless `allowUnknownPrice` is set. */
export function pricing({
  model,
  price,
  caps,
  allowUnknownPrice,
  limitsCost = false,
}: Pricing): Pick<PreparedRun, 'price' | 'priceUnknown'> {
  if (price) return { price };
  if (caps.maxCostUsd === undefined && !limitsCost) return {};
  if (allowUnknownPrice) return { priceUnknown: true };
  const problem = `needs the price of ${model}, and the list of ${MODELS_AS_OF} has none; add models: { "${model}": { price: { input, output } } } to the config`;
  throw failure(
    'Input.Invalid',
    limitsCost
      ? `UNKNOWN_PRICE: maxCostUsdPerDay of the tenant ${problem}, or set budget.allowUnknownPrice of the agent`
      : `UNKNOWN_PRICE: maxCostUsd ${problem}, or set allowUnknownPrice (--allow-unknown-price) to start without the limit`,
  );
}

/** A run's policy, and the price of its summary model. */
export interface PricedSummaries extends Pick<PreparedRun, 'summaryPrice'> {
  readonly policy: RunPolicy;
  /** Notices about options that are not applied. */
  readonly notices: readonly string[];
}

/**
 * Looks up the price of the summary model. With `maxCostUsd` a model of unknown price is not used: the run's own models write summaries.
 */
export function priceSummaries(policy: RunPolicy, { config, needsPrice }: { config: Config; needsPrice: boolean }): PricedSummaries {
  const { summaryModel, ...compaction } = policy.compaction;
  if (summaryModel === undefined) return { policy, notices: [] };
  const { price } = modelFacts(summaryModel, config);
  if (price) return { policy, summaryPrice: price, notices: [] };
  if (!needsPrice) return { policy, notices: [] };
  const notice = `summary model left out: model ${summaryModel}: its price is unknown, and the run keeps a money cap`;
  return { policy: { ...policy, compaction }, notices: [notice] };
}

/** The heartbeat timeout of the run: the agent's, else the worker's. */
export function heartbeatTimeout(
  agent: Pick<AgentDefinition, 'heartbeatTimeoutMs'>,
  worker: { readonly heartbeatTimeoutMs?: number },
): Pick<PreparedRun, 'heartbeatTimeoutMs'> {
  const heartbeatTimeoutMs = agent.heartbeatTimeoutMs ?? worker.heartbeatTimeoutMs;
  return heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs };
}
