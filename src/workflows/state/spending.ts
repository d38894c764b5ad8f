import { addUsage, costOf, isUsage, NO_USAGE } from '../../contracts/models/usage.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { ModelCandidate, ModelSpending } from '../../contracts/schemas/model-route.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import type { SamplingTotals } from '../../contracts/schemas/sampling.js';
import type { EndedSubagent } from '../../contracts/schemas/subagent.js';

/** The model that used the tokens, with its price. */
type Priced = Pick<ModelCandidate, 'model' | 'price'>;

/** The part of a budget that a completion beside the turns may use. */
export interface Reservation {
  readonly tokens: number;
  readonly costUsd: number;
}

/** The usage and the cost of a run, over all its calls and executions. */
export class Spending {
  usage: Usage;
  /** The usage of the last call with an answer. */
  lastUsage: Usage | undefined;
  /** Undefined while no used model has a price. Tokens of models without a price are not included. */
  costUsd: number | undefined;
  /** True when a part of the usage is an estimate. */
  isEstimated: boolean;
  readonly #byModel: Map<string, ModelSpending>;
  readonly #reserved = new Set<Reservation>();
  #sampled: SamplingTotals | undefined;

  constructor(first: Priced, carried?: CarriedState) {
    this.usage = carried?.usage.total ?? NO_USAGE;
    this.lastUsage = carried?.usage.last;
    this.costUsd = carried ? carried.usage.costUsd : first.price && 0;
    this.isEstimated = carried?.route.usageEstimated ?? false;
    this.#sampled = carried?.usage.sampled;
    this.#byModel = new Map((carried?.route.byModel ?? []).map((spent) => [spent.model, spent]));
  }

  /** Adds the usage of a call with an answer. Returns its cost in USD; undefined without a price. */
  chargeAnswer(usage: Usage, by: Priced): number | undefined {
    this.lastUsage = usage;
    return this.#charge(usage, by, 1);
  }

  /** Adds usage without an answer: of a lost attempt, or of a summary. */
  charge(usage: Usage, by: Priced): void {
    this.#charge(usage, by, 0);
  }

  /** Adds what a sub-agent spent. `result`: with its models; absent for a lost one. */
  chargeSubagent({ usage, costUsd }: Pick<EndedSubagent, 'usage' | 'costUsd'>, result: RunResult | undefined): void {
    this.usage = addUsage(this.usage, usage);
    if (costUsd !== undefined) this.costUsd = (this.costUsd ?? 0) + costUsd;
    this.isEstimated ||= result === undefined || result.usageEstimated === true;
    for (const spent of result?.byModel ?? []) {
      const before = this.#byModel.get(spent.model) ?? { model: spent.model, calls: 0, usage: NO_USAGE };
      const cost = spent.costUsd === undefined ? {} : { costUsd: (before.costUsd ?? 0) + spent.costUsd };
      this.#byModel.set(spent.model, { ...before, calls: before.calls + spent.calls, usage: addUsage(before.usage, spent.usage), ...cost });
    }
  }

  /** What the completions for MCP servers used; undefined before the first one. */
  get sampled(): SamplingTotals | undefined {
    return this.#sampled;
  }

  /** Adds the usage of a completion for an MCP server. Returns its cost in USD; undefined without a price. `answered`: it has an answer. */
  chargeSampling(usage: Usage, by: Priced, { answered }: { readonly answered: boolean }): number | undefined {
    const costUsd = this.#charge(usage, by, answered ? 1 : 0);
    const before = this.#sampled ?? { requests: 0, usage: NO_USAGE };
    const sum = costUsd === undefined ? {} : { costUsd: (before.costUsd ?? 0) + costUsd };
    this.#sampled = { ...before, requests: before.requests + (answered ? 1 : 0), usage: addUsage(before.usage, usage), ...sum };
    return costUsd;
  }

  /** Reserves a part of the budget until the returned function is called: completions run beside other calls that spend. */
  reserve(reservation: Reservation): () => void {
    this.#reserved.add(reservation);
    return () => {
      this.#reserved.delete(reservation);
    };
  }

  /** The usage and cost so far, with all that is reserved here and by others. */
  committed(others: Reservation = { tokens: 0, costUsd: 0 }): { readonly used: Usage; readonly costUsd: number } {
    let { tokens } = others;
    let costUsd = (this.costUsd ?? 0) + others.costUsd;
    for (const reserved of this.#reserved) {
      tokens += reserved.tokens;
      costUsd += reserved.costUsd;
    }
    return { used: tokens === 0 ? this.usage : { ...this.usage, inputTokens: this.usage.inputTokens + tokens }, costUsd };
  }

  get byModel(): readonly ModelSpending[] {
    return [...this.#byModel.values()];
  }

  /** The share of input tokens that came from a provider's cache, 0 to 1; undefined before the first input. */
  get cachedShare(): number | undefined {
    const { inputTokens, cacheReadTokens } = this.usage;
    return inputTokens === 0 ? undefined : Math.min(1, Math.round((cacheReadTokens / inputTokens) * 10_000) / 10_000);
  }

  /** The state that continue-as-new carries over. */
  carry(): CarriedState['usage'] {
    return {
      total: this.usage,
      ...(this.lastUsage ? { last: this.lastUsage } : {}),
      ...(this.costUsd === undefined ? {} : { costUsd: this.costUsd }),
      ...(this.#sampled ? { sampled: this.#sampled } : {}),
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

/** The usage in the details of a failure or a last heartbeat; undefined when they contain none. Never throws. */
export function usageIn(details: unknown): Usage | undefined {
  return details !== null && typeof details === 'object' && 'usage' in details && isUsage(details.usage) ? details.usage : undefined;
}
