import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import type { ModelCandidate, ModelSwitch } from '../../contracts/schemas/model-route.js';
import { publishAttributes, publishStatus } from '../operator/progress.js';
import { showDecision, wait } from '../operator/wait.js';
import type { ModelPair } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import type { Setbacks } from './setbacks.js';

/** Who is asked: a model with a key, and whether another one could be. */
export interface ChosenModel {
  readonly pair: ModelPair;
  readonly hasAlternative: boolean;
}

/**
 * Chooses whom to ask next, and tells of a change. When all are left alone and one is back soon, waits for it: `undefined` says that
 * something may have happened meanwhile. The final call waits for nobody.
 */
export async function chooseModel(run: Run, { tried, inEarnest }: Setbacks, final: boolean): Promise<ChosenModel | undefined> {
  const now = Date.now();
  const candidates = candidatesFor(run, final);
  const weighed = run.route.next(tried, now, candidates);
  // what a lost attempt cost may have made even the last one too dear: it goes on all the same
  const next = weighed.kind === 'none' ? run.route.next(tried, now) : weighed;
  if (next.kind === 'none') throw new RangeError('a question whose every model failed is not asked again');
  if (next.kind === 'wait' && !final && next.until - now <= FAILOVER_LIMITS.waitMsMax) {
    await wait(run, next.until - now, coolingReason(next.pair.candidate.model, next.until));
    return undefined;
  }
  const why = candidates.includes(run.route.current) ? run.route.whyLeave(run.route.model, now) : 'budget';
  goTo(run, next.pair.candidate.model, { turn: run.counters.turn, why });
  const isWanted = run.route.takeWish(next.pair.candidate.model);
  return { pair: next.pair, hasAlternative: next.kind === 'ask' && next.hasAlternative && !isWanted && !inEarnest };
}

/** Who may be asked: for the reserved final answer nobody who is too dear for the rest of the cost cap, while another one is not. */
export function candidatesFor(run: Run, final: boolean): readonly ModelCandidate[] {
  return final && run.policy.weighsFallbacks ? run.payableModels() : run.route.candidates;
}

/** What an operator reads while a run waits for a model. */
export function coolingReason(model: string, until: number): string {
  return `${model}, left alone until ${new Date(until).toISOString().slice(11, 19)} UTC`;
}

/** The run is with this model from now on: operators see it in the events, the details and the list of runs. */
export function goTo(run: Run, model: string, { turn, why }: Pick<ModelSwitch, 'turn' | 'why'>): void {
  const change = run.route.goTo(model, turn, why);
  if (!change) return;
  run.events.add({ type: 'model.switched', ...change });
  showDecision(run, `turn ${change.turn}: model ${change.from} → ${change.to}: ${change.why}`);
  publishAttributes(run, { AgentModel: model });
  publishStatus(run);
}
