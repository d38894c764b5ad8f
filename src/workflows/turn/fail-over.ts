import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import { failureScope } from '../../contracts/models/cooldowns.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import { wait } from '../operator/wait.js';
import { type ModelPair, pairName, pairsOf } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import type { ActivityProblem } from '../temporal/failures.js';
import { candidatesFor, coolingReason } from './choose-model.js';
import type { Setbacks } from './setbacks.js';

/** A failed call with its model and key. */
interface FailedCall {
  readonly pair: ModelPair;
  readonly problem: ActivityProblem;
  readonly setbacks: Setbacks;
  /** The deadline of the final call, in milliseconds since 1970. The final call never waits. */
  readonly endsAt: number | undefined;
}

/**
 * The outcome. `again`: try another model, or the same one after a wait. `failed`: every model failed. `not-mine`: the request itself
 * caused the failure, or the route has no alternative, so other recoveries apply.
 */
export type FailedOver = 'again' | 'failed' | 'not-mine';

/** Starts the cooldown of the failed model and key, and looks for another one. */
export async function failOver(run: Run, { pair, problem, setbacks, endsAt }: FailedCall): Promise<FailedOver> {
  if (!run.route.hasChoice || !failsOver(problem.type)) return 'not-mine';
  recordFailure(run, pair, problem, setbacks);
  if (endsAt !== undefined && Date.now() >= endsAt) return 'failed';
  const candidates = candidatesFor(run, endsAt !== undefined);
  const next = run.route.next(setbacks.tried, Date.now(), candidates);
  if (next.kind === 'ask') return isForbiddenFailover(run, problem, { from: pair, to: next.pair }) ? 'failed' : 'again';
  if (next.kind === 'wait' || isLimitedToModel(run, { pair, problem, setbacks })) return 'failed';
  const isFinal = endsAt !== undefined;
  // unreachable servers have their own retry, with a limit of minutes
  if (!isFinal && setbacks.attempts.every(({ type }) => type === 'Model.Unreachable')) return 'not-mine';
  const waitMs = next.backAt - Date.now();
  if (isFinal || waitMs > FAILOVER_LIMITS.waitMsMax) return discardSharedCooldowns(run, setbacks, candidates) ? 'again' : 'failed';
  await wait(run, Math.max(1, waitMs), coolingReason('every model', next.backAt));
  setbacks.tried.clear();
  return 'again';
}

/** The failure of a run whose every model failed: all attempts in one line. Undefined for a route without an alternative. */
export function allFailed({ attempts }: Setbacks): { readonly type: string; readonly message: string } | undefined {
  if (attempts.length === 0) return undefined;
  const lines = attempts.map(({ model, credential, type, message }) => {
    return `${model}${credential === undefined ? '' : ` (${credential})`}: ${type}: ${message.slice(0, 200)}`;
  });
  return { type: 'Model.AllFailed', message: `no model answered: ${[...new Set(lines)].join('; ')}` };
}

function recordFailure(run: Run, pair: ModelPair, problem: ActivityProblem, setbacks: Setbacks): void {
  const { candidate, credential } = pair;
  const { message, lastHeartbeat } = problem;
  // a timeout of Temporal has no failure type of its own
  const type = problem.type.startsWith('Timeout.') ? 'Model.Timeout' : problem.type;
  const name = pairName(pair);
  setbacks.tried.add(name);
  setbacks.attempts.push({ model: candidate.model, ...(credential === undefined ? {} : { credential }), type, message });
  const { retryAfterMs, sharedMs } = waitsIn(lastHeartbeat);
  if (sharedMs === undefined) setbacks.sharedFailures.delete(name);
  else setbacks.sharedFailures.set(name, pair);
  const failed = { model: candidate.model, type, retryAfterMs, sharedMs, now: Date.now() };
  const cooling = run.route.cooldowns.cool({ ...failed, credential });
  if (!cooling) return;
  // a failure of the server does not depend on the key
  const others = KEY_MATTERS.has(type) ? [] : pairsOf(candidate).filter((other) => other.credential !== credential);
  for (const other of others) run.route.cooldowns.cool({ ...failed, credential: other.credential });
  run.events.add({
    type: 'model.cooling',
    turn: run.counters.turn,
    model: candidate.model,
    ...(credential === undefined ? {} : { credential }),
    why: type,
    until: new Date(cooling.until).toISOString(),
  });
}

/** True when a rejected key must not lead to another model (`fallbackOnAuth: false`). */
function staysWithModel({ policy }: Run, { type }: ActivityProblem): boolean {
  return type === 'Model.Auth' && !policy.fallbackOnAuth;
}

function isForbiddenFailover(
  run: Run,
  problem: ActivityProblem,
  { from, to }: { readonly from: ModelPair; readonly to: ModelPair },
): boolean {
  return from.candidate.model !== to.candidate.model && staysWithModel(run, problem);
}

/** True when every key of a model was rejected and no other model may be used: waiting for those would not help. */
function isLimitedToModel(run: Run, { pair, problem, setbacks }: Pick<FailedCall, 'pair' | 'problem' | 'setbacks'>): boolean {
  if (!run.policy.weighsFallbacks || !staysWithModel(run, problem)) return false;
  return pairsOf(pair.candidate).every((each) => setbacks.tried.has(pairName(each)));
}

/**
 * Clears the cooldowns reported by other runs, once per request: a run fails only on its own attempts. True when a model is available now.
 */
function discardSharedCooldowns(run: Run, setbacks: Setbacks, candidates: readonly ModelCandidate[]): boolean {
  if (setbacks.ignoresSharedCooldowns || !run.policy.weighsFallbacks) return false;
  setbacks.ignoresSharedCooldowns = true;
  for (const [name, { candidate, credential }] of setbacks.sharedFailures) {
    setbacks.tried.delete(name);
    run.route.cooldowns.answered({ model: candidate.model, credential });
  }
  return run.route.next(setbacks.tried, Date.now(), candidates).kind === 'ask';
}

/** Failure types for which another key of the same provider may work. */
const KEY_MATTERS: ReadonlySet<string> = new Set(['Model.RateLimited', 'Model.Auth', 'Model.Quota', 'Model.NotFound']);

/** The wait times in the failure's details. */
function waitsIn(details: unknown): { readonly retryAfterMs?: number; readonly sharedMs?: number } {
  if (details === null || typeof details !== 'object') return {};
  const retryAfterMs = 'retryAfterMs' in details && typeof details.retryAfterMs === 'number' ? details.retryAfterMs : undefined;
  const sharedMs = 'sharedMs' in details && typeof details.sharedMs === 'number' ? details.sharedMs : undefined;
  return { ...(retryAfterMs === undefined ? {} : { retryAfterMs }), ...(sharedMs === undefined ? {} : { sharedMs }) };
}

/**
 * True for failures that another model or key may not have: rate limits, overload, timeouts and rejected keys. An invalid request would
 * fail everywhere. Pure.
 */
function failsOver(type: string): boolean {
  return type.startsWith('Timeout.') || failureScope(type) !== 'none';
}
