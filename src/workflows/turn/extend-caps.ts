import { hashJson } from '../../contracts/digest.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { askPerson } from '../operator/request-approval.js';
import type { stopReason } from '../policies/stop/stop-reason.js';
import type { Run } from '../state/run.js';

type Stop = NonNullable<ReturnType<typeof stopReason>>;

/**
 * A cap is reached. A run that gets on may raise its turn cap by itself; a run that asks at its budget waits for `extend` or `deny`,
 * its clock standing still. `end`: the cap stands.
 */
export async function overcomeStop(run: Run, stop: Stop): Promise<'end' | 'go' | 'continue-as-new'> {
  if (stop === 'cancelled') return 'end';
  if (stop === 'max_turns' && extendsItself(run)) return 'go';
  if (run.policy.onBudget === 'finish') {
    if (stop === 'budget') run.events.add({ type: 'budget.reached', turn: run.counters.turn, action: 'finish', limit: limitOf(run, stop) });
    return 'end';
  }
  return await askForMore(run, stop);
}

function extendsItself({ policy, caps, isRepeating, events }: Run): boolean {
  const cap = extendedCap({ autoExtend: policy.autoExtend, maxTurns: caps.maxTurns, isRepeating });
  if (cap === undefined) return false;
  caps.maxTurns = cap;
  events.add({ type: 'extended', maxTurns: cap });
  return true;
}

async function askForMore(run: Run, stop: Stop): Promise<'end' | 'go' | 'continue-as-new'> {
  const limit = limitOf(run, stop);
  if (!run.approvals.pending(BUDGET_APPROVAL)) {
    run.events.add({ type: 'budget.reached', turn: run.counters.turn, action: 'ask', limit });
  }
  // what waits for a person is not late: the deadline stands again when the answer is no
  run.deadlineReached = false;
  const answer = await askPerson(run, {
    callId: BUDGET_APPROVAL,
    tool: 'extend',
    title: `more of ${limit}`,
    args: { limit },
    hash: hashJson({ limit, turn: run.counters.turn }),
    askedBy: 'budget',
    turn: run.counters.turn,
    since: new Date().toISOString(),
    expires: new Date(Date.now() + run.policy.approvalExpireMs).toISOString(),
  });
  if (answer === 'continue-as-new') return answer;
  // a cancel that ended the question ends the run as what it is
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

/** What the decision needs, once a turn cap is reached. */
export interface TurnCapFacts {
  readonly autoExtend: RunPolicy['autoExtend'];
  readonly maxTurns: number;
  /** The last turn was more of the same: more turns would be too. */
  readonly isRepeating: boolean;
}

/** The turn cap a run that gets on gives itself, never above its hard cap; undefined when the present one stands. */
export function extendedCap({ autoExtend, maxTurns, isRepeating }: TurnCapFacts): number | undefined {
  if (!autoExtend || isRepeating || maxTurns >= autoExtend.hardCap) return undefined;
  return Math.min(autoExtend.hardCap, maxTurns + autoExtend.step);
}
