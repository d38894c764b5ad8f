import type { Session } from './session.js';

/** What the loop of a session does next. `wait`: nothing, for `ms` at most, or until something changes. */
export type Step =
  | { readonly kind: 'settle' | 'check' | 'start' | 'continue-as-new' | 'end' }
  | { readonly kind: 'pass'; readonly id: string }
  | { readonly kind: 'stop'; readonly why: string }
  | { readonly kind: 'wait'; readonly for?: string; readonly ms?: number };

/** Decides the next step of a session. Pure: it reads the state and the time. */
export function nextStep(session: Session, now: number): Step {
  const { active, queue, rules } = session;
  if (session.end) return { kind: 'settle' };
  if (session.isCancelled) return stepOfCancelled(session);
  if (queue.unchecked().length > 0) return { kind: 'check' };
  if (active) return stepWhileActive(session);
  if (session.isLong) return { kind: 'continue-as-new' };
  const next = queue.next(rules, now);
  if (next?.kind === 'batch') return { kind: 'start' };
  return next ? { kind: 'wait', for: 'further messages to collect', ms: next.ms } : { kind: 'wait' };
}

/** A cancelled session drops its queue first, then stops its run. */
function stepOfCancelled({ active }: Session): Step {
  if (!active) return { kind: 'end' };
  return active.stopping ? { kind: 'wait', for: `the end of run ${active.runId}` } : { kind: 'stop', why: 'its session was cancelled' };
}

function stepWhileActive(session: Session): Step {
  const { active, queue, rules } = session;
  const interrupting = active?.stopping ? undefined : queue.interrupting(rules);
  if (interrupting) return { kind: 'stop', why: `message ${interrupting.id} interrupts it` };
  const steering = session.takesSteers ? queue.steering(rules) : undefined;
  if (steering) return { kind: 'pass', id: steering.id };
  if (session.isLong) return { kind: 'continue-as-new' };
  return { kind: 'wait', for: `the end of run ${active?.runId}` };
}
