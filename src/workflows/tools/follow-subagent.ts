import { ApplicationFailure, ChildWorkflowFailure, rootCause } from '@temporalio/common';
import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import type { AwaitRunResult } from '../../contracts/activities.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import type { LiveSubagent } from '../../contracts/schemas/subagent.js';
import { PARENT_CONTINUED } from '../../contracts/text/ids.js';
import type { SignalName } from '../../contracts/verbs/index.js';
import type { Run } from '../state/run.js';
import { awaitRun } from '../temporal/subagent-proxies.js';
import type { StartedSubagent } from './start-subagent.js';

/**
 * Follows a sub-agent to its end. A cancel, the deadline and the end of the parent cancel it, a pause pauses it. `continue-as-new`: it is
 * still at work, its call waits for it, and the history of the parent is too long.
 */
export async function followSubagent(
  run: Run,
  subagent: LiveSubagent,
  handle: StartedSubagent['handle'] | undefined,
): Promise<AwaitRunResult | 'continue-as-new'> {
  const seen: { end?: AwaitRunResult; isTold: boolean } = { isTold: false };
  // not awaited: a stop, a pause and a long history come first
  void endOf(run, { subagent, handle }, (end) => {
    seen.end = end;
  });
  const mustStop = (): boolean => isStopping(run) && !seen.isTold;
  const mustLeave = (): boolean => !subagent.background && isTooLong(run);
  for (;;) {
    if (seen.end) return seen.end;
    if (mustStop()) {
      seen.isTold = true;
      await tell(subagent, 'cancel', { reason: whyStopped(run) });
    } else if (mustPass(run, subagent)) {
      subagent.paused = run.inbox.paused;
      await tell(subagent, run.inbox.paused ? 'pause' : 'resume');
    }
    if (mustLeave()) return 'continue-as-new';
    await condition(() => seen.end !== undefined || mustStop() || mustPass(run, subagent) || mustLeave());
  }
}

/** Tells a sub-agent that its parent continues in another history: Temporal's cancellation that follows is not meant. */
export async function tellContinued(subagent: LiveSubagent): Promise<void> {
  await tell(subagent, PARENT_CONTINUED);
}

/** True when the parent stops, or ends without its sub-agents. */
function isStopping({ mustStop, subagents }: Run): boolean {
  return mustStop || subagents.mustStop;
}

function whyStopped({ inbox, deadlineReached }: Run): string {
  if (inbox.cancelRequest) return 'its parent was cancelled';
  return deadlineReached ? 'deadline of its parent' : 'its parent ended';
}

/** True when the sub-agent is paused and its parent is not, or the reverse. */
function mustPass(run: Run, subagent: LiveSubagent): boolean {
  return !isStopping(run) && run.inbox.paused !== (subagent.paused ?? false);
}

function isTooLong(run: Run): boolean {
  return !run.mustStop && run.historyIsLong();
}

/** Sends a signal to a sub-agent. One that has ended needs none. */
async function tell({ runId }: LiveSubagent, signal: SignalName | typeof PARENT_CONTINUED, ...args: unknown[]): Promise<void> {
  await getExternalWorkflowHandle(runId)
    .signal(signal, ...args)
    .catch(() => undefined);
}

/** Reports the end of a sub-agent. A history that did not start it asks an activity. */
async function endOf(
  { prepared: { heartbeatTimeoutMs } }: Run,
  {
    subagent: { runId, executionId },
    handle,
  }: Pick<StartedSubagent, 'subagent'> & { readonly handle: StartedSubagent['handle'] | undefined },
  report: (end: AwaitRunResult) => void,
): Promise<void> {
  report(await (handle ? resultOf(handle) : awaitRun({ runId, executionId }, { heartbeatTimeoutMs })));
}

async function resultOf(handle: StartedSubagent['handle']): Promise<AwaitRunResult> {
  try {
    return { kind: 'ended', result: await handle.result() };
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    const result = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (isResult(result)) return { kind: 'ended', result };
    return { kind: 'lost', why: rootCause(error) ?? 'its workflow ended without a result' };
  }
}

/** The whole result is in the details of a run that failed. */
function isResult(value: unknown): value is RunResult {
  return typeof value === 'object' && value !== null && 'runId' in value && 'usage' in value && 'reason' in value;
}
