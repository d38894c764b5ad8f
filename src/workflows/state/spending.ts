import { addUsage, costOf, isUsage, NO_USAGE } from '../../contracts/models/usage.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { ModelCandidate, ModelSpending } from '../../contracts/schemas/model-route.js';

/** Whose tokens they are. */
type Priced = Pick<ModelCandidate, 'model' | 'price'>;

/** What a run has used and paid, over all its calls and histories. */
export class Spending {
  usage: Usage;
  /** Of the last call that was answered. */
  lastUsage: Usage | undefined;
  /** Undefined while nothing that was used has a price. Tokens of a model without one are not in it. */
  costUsd: number | undefined;
  /** Some of the usage is an estimate. */
  isEstimated: boolean;
  readonly #byModel: Map<string, ModelSpending>;

  constructor(first: Priced, carried?: CarriedState) {
    this.usage = carried?.usage.total ?? NO_USAGE;
    this.lastUsage = carried?.usage.last;
    this.costUsd = carried ? carried.usage.costUsd : first.price && 0;
    this.isEstimated = carried?.route.usageEstimated ?? false;
    this.#byModel = new Map((carried?.route.byModel ?? []).map((spent) => [spent.model, spent]));
  }

  /** Counts the usage of a model call that was answered; gives what it cost, if that is known. */
  chargeAnswer(usage: Usage, by: Priced): number | undefined {
    this.lastUsage = usage;
    return this.#charge(usage, by, 1);
  }

  /** Counts what was used without an answer: by a lost attempt, or beside the conversation. */
  charge(usage: Usage, by: Priced): void {
    this.#charge(usage, by, 0);
  }

  get byModel(): readonly ModelSpending[] {
    return [...this.#byModel.values()];
  }

  /** The part of all input that a provider's cache gave; undefined before there was any input. */
  get cachedShare(): number | undefined {
    const { inputTokens, cacheReadTokens } = this.usage;
    return inputTokens === 0 ? undefined : Math.min(1, Math.round((cacheReadTokens / inputTokens) * 10_000) / 10_000);
  }

  /** What continue-as-new carries. */
  carry(): CarriedState['usage'] {
    return {
      total: this.usage,
      ...(this.lastUsage ? { last: this.lastUsage } : {}),
      ...(this.costUsd === undefined ? {} : { costUsd: this.costUsd }),
    };
  }

  #charge(usage: Usage, { model, price }: Priced, calls: 0 | 1): number | undefined {
    this.usage = addUsage(this.usage, usage);
    const costUsd = price && costOf(usage, price);
    if (costUsd !== undefined) this.costUsd = (this.costUsd ?? 0) + costUsd;
    const before = this.#byModel.get(model) ?? { model, calls: 0, usage: NO_USAGE };
    const sum = price ? { costUsd: (before.costUsd ?? 0) + (costUsd ?? 0) } : {};
    this.#byModel.set(model, { ...before, calls: before.calls + calls, usage: addUsage(before.usage, usage), ...sum });
    return costUsd;
  }
}

/** What the details of a failure, or of a last heartbeat, say that was used; undefined when they say nothing. Never throws. */
export function usageIn(details: unknown): Usage | undefined {
  return details !== null && typeof details === 'object' && 'usage' in details && isUsage(details.usage) ? details.usage : undefined;
}
