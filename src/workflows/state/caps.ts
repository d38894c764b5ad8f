import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { ExtendInput, RunInput } from '../../contracts/schemas/run.js';

/** The limits of a run. The work clock keeps the deadline. */
export class Caps {
  maxTurns: number;
  maxTokens: number | undefined;
  maxCostUsd: number | undefined;

  constructor(input: RunInput, prepared: PreparedRun, carried?: CarriedState['caps']) {
    this.maxTurns = carried?.maxTurns ?? prepared.maxTurns;
    this.maxTokens = carried ? carried.maxTokens : (input.maxTokens ?? prepared.maxTokens);
    this.maxCostUsd = carried ? carried.maxCostUsd : (input.maxCostUsd ?? prepared.maxCostUsd);
  }

  /** Raises the limits that the run has. */
  raise(by: ExtendInput): void {
    this.maxTurns += by.turns ?? 0;
    if (this.maxTokens !== undefined) this.maxTokens += by.tokens ?? 0;
    if (this.maxCostUsd !== undefined) this.maxCostUsd += by.costUsd ?? 0;
  }

  /** The state that continue-as-new carries over. */
  carry(deadlineMs: number | undefined): CarriedState['caps'] {
    return {
      maxTurns: this.maxTurns,
      ...(this.maxTokens === undefined ? {} : { maxTokens: this.maxTokens }),
      ...(this.maxCostUsd === undefined ? {} : { maxCostUsd: this.maxCostUsd }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    };
  }
}
