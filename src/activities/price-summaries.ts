import type { RunPolicy } from '../contracts/schemas/policy.js';
import type { PreparedRun } from '../contracts/schemas/prepared-run.js';
import type { Config } from '../define/define-config.js';
import { modelFacts } from '../models/model-facts.js';

/** A run's policy, and what its own model for summaries costs. */
export interface PricedSummaries extends Pick<PreparedRun, 'summaryPrice'> {
  readonly policy: RunPolicy;
  /** What was not as asked for. */
  readonly notices: readonly string[];
}

/** Looks the price of the model up that writes summaries. A money cap leaves out one of unknown price: the run's own models write them. */
export function priceSummaries(policy: RunPolicy, { config, needsPrice }: { config: Config; needsPrice: boolean }): PricedSummaries {
  const { summaryModel, ...compaction } = policy.compaction;
  if (summaryModel === undefined) return { policy, notices: [] };
  const { price } = modelFacts(summaryModel, config);
  if (price) return { policy, summaryPrice: price, notices: [] };
  if (!needsPrice) return { policy, notices: [] };
  const notice = `summary model left out: model ${summaryModel}: its price is unknown, and the run keeps a money cap`;
  return { policy: { ...policy, compaction }, notices: [notice] };
}
