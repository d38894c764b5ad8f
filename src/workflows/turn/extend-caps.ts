import { hashJson } from '../../contracts/digest.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { requestApproval } from '../operator/request-approval.js';
import type { stopReason } from '../policies/stop/stop-reason.js';
import type { Run } from '../state/run.js';

type Stop = NonNullable<ReturnType<typeof stopReason>>;

/**
 * Handles a reached limit. A run that makes progress may raise its turn limit itself (`autoExtend`). With `onBudget: "ask"` the run waits
 * for `extend` or `deny`, with the work clock stopped. `end`: the limit ends the run.
 */
export async function handleStop(run: Run, stop: Stop): Promise<'end' | 'go' | 'continue-as-new'> {
  if (stop === 'cancelled') return 'end';
  if (stop === 'max_turns' && tryAutoExtend(run)) return 'go';
  if (run.policy.onBudget === 'finish') {
    if (stop === 'budget') run.events.add({ type: 'budget.reached', turn: run.counters.turn, action: 'finish', limit: limitOf(run, stop) });
    return 'end';
  }
  return await requestExtension(run, stop);
}

function tryAutoExtend({ policy, caps, isRepeating, events }: Run): boolean {
  const cap = extendedCap({ autoExtend: policy.autoExtend, maxTurns: caps.maxTurns, isRepeating });
  if (cap === undefined) return false;
  caps.maxTurns = cap;
  events.add({ type: 'extended', maxTurns: cap });
  return true;
}

async function requestExtension(run: Run, stop: Stop): Promise<'end' | 'go' | 'continue-as-new'> {
  const limit = limitOf(run, stop);
  if (!run.approvals.pending(BUDGET_APPROVAL)) {
    run.events.add({ type: 'budget.reached', turn: run.counters.turn, action: 'ask', limit });
  }
  // the deadline is suspended while the approval is pending, and applies again after a denial
  run.deadlineReached = false;
  const answer = await requestApproval(run, {
    callId: BUDGET_APPROVAL,
    tool: 'extend',
    title: `increase of the limit of ${limit}`,
    args: { limit },
    hash: hashJson({ limit, turn: run.counters.turn }),
    askedBy: 'budget',
    turn: run.counters.turn,
    since: new Date().toISOString(),
    expires: new Date(Date.now() + run.policy.approvalExpireMs).toISOString(),
  });
  if (answer === 'continue-as-new') return answer;
  // after a cancel the loop ends the run with reason `cancelled`
  if (answer === 'approved' || answer === 'stopped') return 'go';
  run.deadlineReached = stop === 'deadline';
  return 'end';
}

function limitOf({ caps, clock }: Run, stop: Stop): string {
  switch (stop) {
    case 'max_turns':
      return `${caps.maxTurns} turns`;
    case 'deadline':
      return `${Math.round((clock.deadlineMs ?? 0) / 1_000)} s of working time`;
    case 'budget':
    case 'cancelled':
      return [caps.maxTokens === undefined ? '' : `${caps.maxTokens} tokens`, caps.maxCostUsd === undefined ? '' : `$${caps.maxCostUsd}`]
        .filter((text) => text !== '')
        .join(' or ');
  }
}

/** The facts for the decision about a reached turn limit. */
export interface TurnCapFacts {
  readonly autoExtend: RunPolicy['autoExtend'];
  readonly maxTurns: number;
  /** The last turn repeated earlier ones, so further turns would not help. */
  readonly isRepeating: boolean;
}

/** The raised turn limit of a run that makes progress, at most its hard cap; undefined when the current limit applies. */
export function extendedCap({ autoExtend, maxTurns, isRepeating }: TurnCapFacts): number | undefined {
  if (!autoExtend || isRepeating || maxTurns >= autoExtend.hardCap) return undefined;
  return Math.min(autoExtend.hardCap, maxTurns + autoExtend.step);
}
