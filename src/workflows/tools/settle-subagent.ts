import type { AwaitRunResult } from '../../contracts/activities.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { EndedSubagent, LiveSubagent } from '../../contracts/schemas/subagent.js';
import { cutMiddle } from '../../contracts/text/redact.js';
import { outputBounds } from '../policies/tools/output-bounds.js';
import type { Run } from '../state/run.js';

/** How a sub-agent ended, for the model. */
export interface SettledSubagent {
  /** The reason of its result, or `lost`. */
  readonly reason: string;
  /** The end in a few words, with the id of its run. */
  readonly ending: string;
  /** Its answer, cut as the output of a tool is. */
  readonly output: string;
}

/** Charges what a sub-agent spent, frees what it did not, and records its end. */
export function settleSubagent(run: Run, subagent: LiveSubagent, end: AwaitRunResult): SettledSubagent {
  const ended = recordOf(subagent, end);
  run.subagents.end(subagent.callId, ended);
  run.spending.chargeSubagent(ended, end.kind === 'ended' ? end.result : undefined);
  const { runId, agent, reason, costUsd } = ended;
  run.events.add({
    type: 'subagent.ended',
    turn: run.counters.turn,
    callId: subagent.callId,
    runId,
    agent,
    reason,
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  if (end.kind === 'lost') return { reason, ending: `sub-agent ${runId} was lost: ${end.why}`, output: '' };
  const { output, error } = end.result;
  return {
    reason,
    ending: `sub-agent ${runId} ended: ${error ? `${error.type}: ${error.message}` : reason}`,
    output: cutMiddle(output, outputBounds(run.policy.output, run.prepared.contextWindow).bytesMax),
  };
}

function recordOf({ runId, agent, share }: LiveSubagent, end: AwaitRunResult): EndedSubagent {
  if (end.kind === 'ended') {
    const { reason, usage, costUsd } = end.result;
    return { runId, agent, reason, usage, ...(costUsd === undefined ? {} : { costUsd }) };
  }
  // nobody knows what it spent: no more than its share
  const usage = { ...NO_USAGE, inputTokens: share.tokens ?? 0 };
  return { runId, agent, reason: 'lost', usage, ...(share.costUsd === undefined ? {} : { costUsd: share.costUsd }) };
}
