import { condition } from '@temporalio/workflow';
import type { SubagentsOnEnd } from '../../contracts/schemas/subagent.js';
import type { Continuation } from '../operator/pause-and-hold.js';
import { whileWaiting } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import { followSubagent } from './follow-subagent.js';
import { settleSubagent } from './settle-subagent.js';
import type { StartedSubagent } from './start-subagent.js';

/** Follows a sub-agent whose call has returned. Its result is kept for the model, in the order in which sub-agents end. */
export async function followInBackground(run: Run, { subagent, handle }: Followed): Promise<void> {
  const end = await followSubagent(run, subagent, handle);
  // a fresh history follows it
  if (end === 'continue-as-new') return;
  const { ending, output } = settleSubagent(run, subagent, end);
  run.subagents.arrive({ callId: subagent.callId, runId: subagent.runId, ending, output });
}

/** A sub-agent at work. A history that did not start it has no handle. */
type Followed = Pick<StartedSubagent, 'subagent'> & { readonly handle?: StartedSubagent['handle'] };

/** Follows the sub-agents in the background that an earlier history started. */
export function followCarried(run: Run): void {
  // not awaited: the loop takes turns meanwhile
  for (const subagent of run.subagents.inBackground) void followInBackground(run, { subagent });
}

/** True when a final answer does not end the run yet: the results of its sub-agents come first. */
export function answersTooEarly(run: Run): boolean {
  const { inBackground, arrived } = run.subagents;
  return onEnd(run) === 'wait' && inBackground.length + arrived.length > 0;
}

/**
 * True between turns when the run waits for a sub-agent in the background: after a final answer, and at a limit, which the rest of its
 * share may lift. A cancel and the deadline stop sub-agents instead.
 */
export function mustAwaitSubagent(run: Run): boolean {
  const { inBackground, arrived, answered } = run.subagents;
  if (inBackground.length === 0 || run.mustStop || onEnd(run) === 'stop') return false;
  const stop = run.stopReason();
  if (stop === 'max_turns' || stop === 'budget') return true;
  return stop === undefined && answered && arrived.length === 0 && !run.inbox.hasUnread;
}

/** Waits until a sub-agent ends, or until something else is due. `go`: the loop looks again. */
export async function awaitSubagent(run: Run): Promise<Continuation> {
  const { length } = run.subagents.arrived;
  const isOver = (): boolean => run.subagents.arrived.length > length || run.inbox.paused || run.historyIsLong() || !mustAwaitSubagent(run);
  await whileWaiting(run, shownAtWork(run), () => condition(isOver));
  return run.historyIsLong() && !run.mustStop ? 'continue-as-new' : 'go';
}

/** Stops the sub-agents at work and waits for their ends, because their parent ends. */
export async function stopSubagents(run: Run): Promise<void> {
  run.subagents.mustStop = true;
  await whileWaiting(run, `${shownAtWork(run)} to stop`, () => condition(() => run.subagents.live.length === 0));
  // a message may let the run continue
  run.subagents.mustStop = false;
}

function onEnd({ prepared }: Run): SubagentsOnEnd {
  return prepared.delegation?.background?.onEnd ?? 'wait';
}

function shownAtWork({ subagents: { live } }: Run): string {
  const [first] = live;
  return live.length === 1 && first ? `sub-agent ${first.runId}` : `${live.length} sub-agents`;
}
