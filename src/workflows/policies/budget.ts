import { MODEL_LIMITS } from '../../contracts/limits.js';
import { costOf, type ModelPrice, NO_USAGE, type Usage } from '../../contracts/model.js';

/** What is known before a model call. */
export interface BudgetFacts {
  readonly used: Usage;
  readonly costUsd: number;
  readonly maxTokens: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly price: ModelPrice | undefined;
  /** Estimated input of the next request, in tokens. */
  readonly inputTokens: number;
  /** The reserved final call spends what was set aside for it. */
  readonly final: boolean;
}

/**
 * How many tokens the next answer may have, or `spent` when no useful call is left. A call reserves its estimated input and its
 * output limit; one more input and the least useful output are set aside for the reserved final call (DESIGN section 7).
 */
export function outputTokensAllowed(facts: BudgetFacts): number | 'spent' {
  const allowed = Math.min(MODEL_LIMITS.outputTokensDefault, byTokens(facts), byCost(facts));
  if (allowed >= MODEL_LIMITS.outputTokensMin) return Math.floor(allowed);
  return facts.final ? MODEL_LIMITS.outputTokensMin : 'spent';
}

function byTokens({ used, maxTokens, inputTokens, final }: BudgetFacts): number {
  if (maxTokens === undefined) return Number.POSITIVE_INFINITY;
  const left = maxTokens - used.inputTokens - used.outputTokens;
  return final ? left - inputTokens : left - 2 * inputTokens - MODEL_LIMITS.outputTokensMin;
}

function byCost({ costUsd, maxCostUsd, price, inputTokens, final }: BudgetFacts): number {
  if (maxCostUsd === undefined || price === undefined || price.output === 0) return Number.POSITIVE_INFINITY;
  const inputCost = costOf({ ...NO_USAGE, inputTokens }, price);
  const finalCost = inputCost + costOf({ ...NO_USAGE, outputTokens: MODEL_LIMITS.outputTokensMin }, price);
  const leftUsd = maxCostUsd - costUsd - inputCost - (final ? 0 : finalCost);
  return (leftUsd / price.output) * 1_000_000;
}
