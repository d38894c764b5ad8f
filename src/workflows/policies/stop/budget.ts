import { MODEL_LIMITS } from '../../../contracts/constants/limits.js';
import { costOf, NO_USAGE, priceAt } from '../../../contracts/models/usage.js';
import type { ModelPrice, Usage } from '../../../contracts/schemas/model.js';

/** The facts before a model call. */
export interface BudgetFacts {
  readonly used: Usage;
  readonly costUsd: number;
  readonly maxTokens: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly price?: ModelPrice | undefined;
  /** The maximum of thinking tokens, which are output tokens too. */
  readonly thinkingTokens: number;
  /** Estimated input of the next request, in tokens. */
  readonly inputTokens: number;
  /** True when the reserve includes the next answer as input of the final call; false for runs of older versions. */
  readonly finalReadsAnswer: boolean;
}

/**
 * The output limit of the next answer in tokens, or `spent` when the budget allows no useful call. A call reserves its estimated input and
 * its output limit. The reserve for the final call is the same input, that output as further input, and the minimum of output.
 */
export function outputTokensAllowed(facts: BudgetFacts): number | 'spent' {
  const { price, inputTokens } = facts;
  const final = { ...NO_USAGE, inputTokens, outputTokens: MODEL_LIMITS.outputTokensMin };
  const reserve = { tokens: inputTokens + MODEL_LIMITS.outputTokensMin, usd: price ? costOf(final, price) : 0 };
  const allowed = outputWithin(facts, { ...reserve, timesRead: facts.finalReadsAnswer ? 1 : 0 });
  return allowed < MODEL_LIMITS.outputTokensMin ? 'spent' : allowed;
}

/**
 * The output limit of a completion beside the turns, in tokens, or `spent` when the budget does not allow it. It leaves the reserve for the
 * final call, whose input does not contain the completion.
 */
export function sideOutputTokens(
  facts: BudgetFacts,
  { inputTokens, tokensMax }: { readonly inputTokens: number; readonly tokensMax: number },
): number | 'spent' {
  const final = { ...NO_USAGE, inputTokens: facts.inputTokens, outputTokens: MODEL_LIMITS.outputTokensMin };
  const reserve = { tokens: final.inputTokens + final.outputTokens, usd: facts.price ? costOf(final, facts.price) : 0, timesRead: 0 };
  const allowed = Math.min(tokensMax, outputWithin({ ...facts, inputTokens }, reserve));
  return allowed < Math.min(tokensMax, MODEL_LIMITS.outputTokensMin) ? 'spent' : allowed;
}

/** The spent limits; none while `outputTokensAllowed` returns a number. */
export function spentBudgets(facts: BudgetFacts): ('tokens' | 'costUsd')[] {
  const tokens = outputTokensAllowed({ ...facts, maxCostUsd: undefined });
  const cost = outputTokensAllowed({ ...facts, maxTokens: undefined });
  return [...(tokens === 'spent' ? ['tokens' as const] : []), ...(cost === 'spent' ? ['costUsd' as const] : [])];
}

/** The output limit of the reserved final answer in tokens. At least the minimum of output, so that it is never left out. */
export function finalOutputTokens(facts: BudgetFacts): number {
  return Math.max(MODEL_LIMITS.outputTokensMin, outputWithin(facts, { tokens: 0, usd: 0, timesRead: 0 }));
}

/**
 * The models for which the cost limit can pay the input and the minimum of output. All of them when it can pay none, because the choice of
 * a model makes no difference then.
 */
export function payableModels<Model extends Pick<BudgetFacts, 'price'>>(models: readonly Model[], facts: BudgetFacts): readonly Model[] {
  const payable = models.filter(({ price }) => isPayable({ ...facts, price }));
  return payable.length === 0 ? models : payable;
}

function isPayable({ costUsd, maxCostUsd, price, inputTokens }: BudgetFacts): boolean {
  if (maxCostUsd === undefined || price === undefined) return true;
  return costUsd + costOf({ ...NO_USAGE, inputTokens, outputTokens: MODEL_LIMITS.outputTokensMin }, price) <= maxCostUsd;
}

/** The output tokens that the tighter limit leaves after the input and the reserve. May be negative. */
function outputWithin(facts: BudgetFacts, reserve: Reserve): number {
  const most = MODEL_LIMITS.outputTokensDefault + facts.thinkingTokens;
  return Math.floor(Math.min(most, byTokens(facts, reserve), byCost(facts, reserve)));
}

/** The reserve for later calls. `timesRead`: how often the output of this call becomes input. */
interface Reserve {
  readonly tokens: number;
  readonly usd: number;
  readonly timesRead: number;
}

function byTokens({ used, maxTokens, inputTokens }: BudgetFacts, { tokens, timesRead }: Reserve): number {
  if (maxTokens === undefined) return Number.POSITIVE_INFINITY;
  return (maxTokens - used.inputTokens - used.outputTokens - inputTokens - tokens) / (1 + timesRead);
}

function byCost({ costUsd, maxCostUsd, price, inputTokens }: BudgetFacts, { usd, timesRead }: Reserve): number {
  if (maxCostUsd === undefined || price === undefined) return Number.POSITIVE_INFINITY;
  const leftUsd = maxCostUsd - costUsd - costOf({ ...NO_USAGE, inputTokens }, price) - usd;
  if (leftUsd < 0) return Number.NEGATIVE_INFINITY;
  const { input, output } = priceAt(price, inputTokens);
  const perToken = output + timesRead * input;
  return perToken === 0 ? Number.POSITIVE_INFINITY : (leftUsd / perToken) * 1_000_000;
}
