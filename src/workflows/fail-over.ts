import { FAILOVER_LIMITS } from '../contracts/limits.js';
import { coolingReason } from './choose-model.js';
import type { ActivityProblem } from './failures.js';
import type { Setbacks } from './may-ask-again.js';
import { failsOver } from './policies/fails-over.js';
import { type ModelPair, pairName, pairsOf } from './policies/next-model.js';
import type { Run } from './run.js';

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
  const other = otherPair(run, pair, problem, setbacks);
  if (other !== 'none') return other === 'unwanted' ? 'failed' : 'again';
  const next = run.route.next(setbacks.tried, Date.now());
  if (next.kind !== 'none' || endsAt !== undefined) return 'failed';
  // a server that is out of reach has minutes of patience of its own
  if (setbacks.attempts.every(({ type }) => type === 'Model.Unreachable')) return 'not-mine';
  const waitMs = next.backAt - Date.now();
  if (waitMs > FAILOVER_LIMITS.waitMsMax) return 'failed';
  await run.wait(Math.max(1, waitMs), coolingReason('every model', next.backAt));
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
  setbacks.tried.add(pairName(pair));
  setbacks.attempts.push({ model: candidate.model, ...(credential === undefined ? {} : { credential }), type, message });
  const { retryAfterMs, sharedMs } = waitsIn(lastHeartbeat);
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

/** Can somebody else be asked at this moment? `unwanted`: a refused key leads to other models only where that is wanted. */
function otherPair(run: Run, { candidate }: ModelPair, { type }: ActivityProblem, { tried }: Setbacks): 'there' | 'none' | 'unwanted' {
  const next = run.route.next(tried, Date.now());
  if (next.kind !== 'ask') return 'none';
  const isSameModel = next.pair.candidate.model === candidate.model;
  return !isSameModel && type === 'Model.Auth' && !run.policy.fallbackOnAuth ? 'unwanted' : 'there';
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
