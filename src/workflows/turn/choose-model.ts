import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import type { ModelCandidate, ModelSwitch } from '../../contracts/schemas/model-route.js';
import { publishAttributes } from '../operator/progress.js';
import { showDecision } from '../operator/wait.js';
import type { ModelPair } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import type { Setbacks } from './setbacks.js';

/** The model and key of the next call, and whether the route has another pair that is available. */
export interface ChosenModel {
  readonly pair: ModelPair;
  readonly hasAlternative: boolean;
}

/** All models are cooling down: the wait for the first one, and its reason for operators. */
export interface CoolingWait {
  readonly waitMs: number;
  readonly reason: string;
}

/**
 * Chooses the model for the next call, and publishes a switch. When all are cooling down and one is available soon, it returns the wait for
 * that one: the caller must check for stops and messages after it. The final call never waits.
 */
export function chooseModel(run: Run, { tried, ignoresSharedCooldowns }: Setbacks, final: boolean): ChosenModel | CoolingWait {
  const now = Date.now();
  const candidates = candidatesFor(run, final);
  const weighed = run.route.next(tried, now, candidates);
  // a lost attempt may have made every model too expensive: then the price is ignored
  const next = weighed.kind === 'none' ? run.route.next(tried, now) : weighed;
  if (next.kind === 'none') throw new RangeError('every model of this request has failed already');
  if (next.kind === 'wait' && !final && next.until - now <= FAILOVER_LIMITS.waitMsMax) {
    return { waitMs: next.until - now, reason: coolingReason(next.pair.candidate.model, next.until) };
  }
  const why = candidates.includes(run.route.current) ? run.route.switchReason(run.route.model, now) : 'budget';
  switchModel(run, next.pair.candidate.model, { turn: run.counters.turn, why });
  const isPreferred = run.route.takePreference(next.pair.candidate.model);
  return { pair: next.pair, hasAlternative: next.kind === 'ask' && next.hasAlternative && !isPreferred && !ignoresSharedCooldowns };
}

/** The models that may be called. For the final answer only those that the rest of the cost limit can pay, unless it can pay none. */
export function candidatesFor(run: Run, final: boolean): readonly ModelCandidate[] {
  return final && run.policy.weighsFallbacks ? run.payableModels() : run.route.candidates;
}

/** The waiting reason while every model is cooling down. */
export function coolingReason(model: string, until: number): string {
  return `${model}, cooling down until ${new Date(until).toISOString().slice(11, 19)} UTC`;
}

/** Switches the run to this model, and publishes the switch in the events, the details and the search attributes. */
export function switchModel(run: Run, model: string, { turn, why }: Pick<ModelSwitch, 'turn' | 'why'>): void {
  const change = run.route.switchTo(model, turn, why);
  if (!change) return;
  run.events.add({ type: 'model.switched', ...change });
  showDecision(run, `turn ${change.turn}: model ${change.from} → ${change.to}: ${change.why}`);
  publishAttributes(run, { AgentModel: model });
}
