import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import { failureScope } from '../../contracts/models/cooldowns.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import { wait } from '../operator/wait.js';
import { type ModelPair, pairName, pairsOf } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import type { ActivityProblem } from '../temporal/failures.js';
import { candidatesFor, coolingReason } from './choose-model.js';
import type { Setbacks } from './setbacks.js';

/** A call that failed, and whom it asked. */
interface FailedAsk {
  readonly pair: ModelPair;
  readonly problem: ActivityProblem;
  readonly setbacks: Setbacks;
  /** Of the reserved final call, when it must have ended: it waits for nobody. */
  readonly endsAt: number | undefined;
}

/**
 * What becomes of a question that one model failed. `again`: another one, or this one after a wait, may be asked. `failed`: all were
 * asked in vain. `not-mine`: the failure is the request's own, or there is nobody else: other recoveries may help.
 */
export type FailedOver = 'again' | 'failed' | 'not-mine';

/** Leaves the failed pair alone for a while and sees whether anybody else can be asked. */
export async function failOver(run: Run, { pair, problem, setbacks, endsAt }: FailedAsk): Promise<FailedOver> {
  if (!run.route.hasChoice || !failsOver(problem.type)) return 'not-mine';
  note(run, pair, problem, setbacks);
  if (endsAt !== undefined && Date.now() >= endsAt) return 'failed';
  const candidates = candidatesFor(run, endsAt !== undefined);
  const next = run.route.next(setbacks.tried, Date.now(), candidates);
  if (next.kind === 'ask') return isUnwanted(run, problem, { from: pair, to: next.pair }) ? 'failed' : 'again';
  if (next.kind === 'wait' || isConfined(run, { pair, problem, setbacks })) return 'failed';
  const isFinal = endsAt !== undefined;
  // a server that is out of reach has minutes of patience of its own
  if (!isFinal && setbacks.attempts.every(({ type }) => type === 'Model.Unreachable')) return 'not-mine';
  const waitMs = next.backAt - Date.now();
  if (isFinal || waitMs > FAILOVER_LIMITS.waitMsMax) return forgetsHearsay(run, setbacks, candidates) ? 'again' : 'failed';
  await wait(run, Math.max(1, waitMs), coolingReason('every model', next.backAt));
  setbacks.tried.clear();
  return 'again';
}

/** All that was tried, in one line: what a run says that no model answered. Undefined where nobody else could have been asked. */
export function allFailed({ attempts }: Setbacks): { readonly type: string; readonly message: string } | undefined {
  if (attempts.length === 0) return undefined;
  const lines = attempts.map(({ model, credential, type, message }) => {
    return `${model}${credential === undefined ? '' : ` (${credential})`}: ${type}: ${message.slice(0, 200)}`;
  });
  return { type: 'Model.AllFailed', message: `no model answered: ${[...new Set(lines)].join('; ')}` };
}

function note(run: Run, pair: ModelPair, problem: ActivityProblem, setbacks: Setbacks): void {
  const { candidate, credential } = pair;
  const { message, lastHeartbeat } = problem;
  // a worker that did not end its call in time says nothing of its own
  const type = problem.type.startsWith('Timeout.') ? 'Model.Timeout' : problem.type;
  const name = pairName(pair);
  setbacks.tried.add(name);
  setbacks.attempts.push({ model: candidate.model, ...(credential === undefined ? {} : { credential }), type, message });
  const { retryAfterMs, sharedMs } = waitsIn(lastHeartbeat);
  if (sharedMs === undefined) setbacks.heard.delete(name);
  else setbacks.heard.set(name, pair);
  const failed = { model: candidate.model, type, retryAfterMs, sharedMs, now: Date.now() };
  const cooling = run.route.cooldowns.cool({ ...failed, credential });
  if (!cooling) return;
  // what one server failed, it fails with its other keys too
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

/** A refused key leads to other models only where that is wanted. */
function staysWithModel({ policy }: Run, { type }: ActivityProblem): boolean {
  return type === 'Model.Auth' && !policy.fallbackOnAuth;
}

function isUnwanted(run: Run, problem: ActivityProblem, { from, to }: { readonly from: ModelPair; readonly to: ModelPair }): boolean {
  return from.candidate.model !== to.candidate.model && staysWithModel(run, problem);
}

/** Whom a refused key may not lead to, nobody waits for either. */
function isConfined(run: Run, { pair, problem, setbacks }: Pick<FailedAsk, 'pair' | 'problem' | 'setbacks'>): boolean {
  if (!run.policy.weighsFallbacks || !staysWithModel(run, problem)) return false;
  return pairsOf(pair.candidate).every((each) => setbacks.tried.has(pairName(each)));
}

/** What only other runs said is never the last word: true when there is somebody whom the run may now ask for itself. */
function forgetsHearsay(run: Run, setbacks: Setbacks, candidates: readonly ModelCandidate[]): boolean {
  if (setbacks.inEarnest || !run.policy.weighsFallbacks) return false;
  setbacks.inEarnest = true;
  for (const [name, { candidate, credential }] of setbacks.heard) {
    setbacks.tried.delete(name);
    run.route.cooldowns.answered({ model: candidate.model, credential });
  }
  return run.route.next(setbacks.tried, Date.now(), candidates).kind === 'ask';
}

/** What another key of the same provider may get past. */
const KEY_MATTERS: ReadonlySet<string> = new Set(['Model.RateLimited', 'Model.Auth', 'Model.Quota', 'Model.NotFound']);

/** What the failure says beside its message. */
function waitsIn(details: unknown): { readonly retryAfterMs?: number; readonly sharedMs?: number } {
  if (details === null || typeof details !== 'object') return {};
  const retryAfterMs = 'retryAfterMs' in details && typeof details.retryAfterMs === 'number' ? details.retryAfterMs : undefined;
  const sharedMs = 'sharedMs' in details && typeof details.sharedMs === 'number' ? details.sharedMs : undefined;
  return { ...(retryAfterMs === undefined ? {} : { retryAfterMs }), ...(sharedMs === undefined ? {} : { sharedMs }) };
}

/**
 * Is this failure a reason to ask another model or key? Limits, overload, silence and refused keys are; what is wrong with the request
 * itself would fail everywhere. Pure.
 */
function failsOver(type: string): boolean {
  return type.startsWith('Timeout.') || failureScope(type) !== 'none';
}
