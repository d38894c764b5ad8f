import { addUsage } from '../contracts/add-usage.js';
import type { CarriedState } from '../contracts/carried-state.js';
import { costOf } from '../contracts/cost-of.js';
import type { ModelPrice, Usage } from '../contracts/model.js';
import { NO_USAGE } from '../contracts/no-usage.js';

/** What a run has used and paid, over all its calls and histories. */
export class Spending {
  usage: Usage;
  /** Of the last call that was answered. */
  lastUsage: Usage | undefined;
  /** Undefined while the price is unknown. */
  costUsd: number | undefined;
  readonly #price: ModelPrice | undefined;

  constructor(price: ModelPrice | undefined, carried?: CarriedState['usage']) {
    this.#price = price;
    this.usage = carried?.total ?? NO_USAGE;
    this.lastUsage = carried?.last;
    this.costUsd = carried ? carried.costUsd : price && 0;
  }

  /** Counts the usage of a model call, also of one that was lost. */
  charge(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    if (this.#price) this.costUsd = (this.costUsd ?? 0) + costOf(usage, this.#price);
  }

  /** What continue-as-new carries. */
  carry(): CarriedState['usage'] {
    return {
      total: this.usage,
      ...(this.lastUsage ? { last: this.lastUsage } : {}),
      ...(this.costUsd === undefined ? {} : { costUsd: this.costUsd }),
    };
  }
}
