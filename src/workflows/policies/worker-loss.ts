import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { Effect } from '../../contracts/schemas/tool.js';

/** What to do after the worker of a tool call was lost. */
export type AfterLoss = 'again' | 'reconcile' | 'unknown';

/** Decides by effect: what may repeat runs again with the same key; what may be done once is looked at, or is unknown. */
export function afterWorkerLoss(facts: { effect: Effect; hasReconcile: boolean; losses: number }): AfterLoss {
  if (facts.losses > RUN_LIMITS.workerLossesMax) return 'unknown';
  if (facts.effect !== 'once') return 'again';
  return facts.hasReconcile ? 'reconcile' : 'unknown';
}
