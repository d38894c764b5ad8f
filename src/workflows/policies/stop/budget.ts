import { MODEL_LIMITS } from '../../../contracts/constants/limits.js';
import { costOf, NO_USAGE, priceAt } from '../../../contracts/models/usage.js';
import type { ModelPrice, Usage } from '../../../contracts/schemas/model.js';

/** What is known before a model call. */
export interface BudgetFacts {
  readonly used: Usage;
  readonly costUsd: number;
  readonly maxTokens: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly price?: ModelPrice | undefined;
  /** What the model may think beside its answer: output too, and paid as such. */
  readonly thinkingTokens: number;
  /** Estimated input of the next request, in tokens. */
  readonly inputTokens: number;
  /** The final call reads the next answer too, and that is set aside as well; false for runs that began without it. */
  readonly finalReadsAnswer: boolean;
}

/**
 * How many tokens the next answer may have, or `spent` when no useful call is left. A call reserves its estimated input and its
 * output limit; one more input, that output once more as input, and the least useful output are set aside for the final call.
 */
export function outputTokensAllowed(facts: BudgetFacts): number | 'spent' {
  const { price, inputTokens } = facts;
  const final = { ...NO_USAGE, inputTokens, outputTokens: MODEL_LIMITS.outputTokensMin };
  const reserve = { tokens: inputTokens + MODEL_LIMITS.outputTokensMin, usd: price ? costOf(final, price) : 0 };
  const allowed = outputWithin(facts, { ...reserve, timesRead: facts.finalReadsAnswer ? 1 : 0 });
  return allowed < MODEL_LIMITS.outputTokensMin ? 'spent' : allowed;
}

/** Which of both caps leave no useful call; none while `outputTokensAllowed` gives a number. */
export function spentBudgets(facts: BudgetFacts): ('tokens' | 'costUsd')[] {
  const tokens = outputTokensAllowed({ ...facts, maxCostUsd: undefined });
  const cost = outputTokensAllowed({ ...facts, maxTokens: undefined });
  return [...(tokens === 'spent' ? ['tokens' as const] : []), ...(cost === 'spent' ? ['costUsd' as const] : [])];
}

/** How many tokens the reserved final answer may have: it spends what was set aside for it, and is never left out. */
export function finalOutputTokens(facts: BudgetFacts): number {
  return Math.max(MODEL_LIMITS.outputTokensMin, outputWithin(facts, { tokens: 0, usd: 0, timesRead: 0 }));
}

/**
 * Those of some models that the money cap still pays for reading the transcript and giving the least useful answer; all of them when it
 * pays none, since their prices are not the reason then.
 */
export function payableModels<Model extends Pick<BudgetFacts, 'price'>>(models: readonly Model[], facts: BudgetFacts): readonly Model[] {
  const payable = models.filter(({ price }) => isPayable({ ...facts, price }));
  return payable.length === 0 ? models : payable;
}

function isPayable({ costUsd, maxCostUsd, price, inputTokens }: BudgetFacts): boolean {
  if (maxCostUsd === undefined || price === undefined) return true;
  return costUsd + costOf({ ...NO_USAGE, inputTokens, outputTokens: MODEL_LIMITS.outputTokensMin }, price) <= maxCostUsd;
}

/** What the tighter of both caps leaves for output, once the input is paid for and the reserve is set aside. May be negative. */
function outputWithin(facts: BudgetFacts, reserve: Reserve): number {
  const most = MODEL_LIMITS.outputTokensDefault + facts.thinkingTokens;
  return Math.floor(Math.min(most, byTokens(facts, reserve), byCost(facts, reserve)));
}

/** What is not for this call. `timesRead`: how often its output becomes input. */
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
