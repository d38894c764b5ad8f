import { condition } from '@temporalio/workflow';
import type { AwaitRunResult } from '../../contracts/activities.js';
import { MODEL_LIMITS, SUBAGENT_LIMITS } from '../../contracts/constants/limits.js';
import type { JsonValue, ToolCallPart } from '../../contracts/schemas/message.js';
import type { LiveSubagent, PreparedDelegation, SubagentShare } from '../../contracts/schemas/subagent.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { DELEGATE_TOOL } from '../../contracts/text/ids.js';
import type { Continuation } from '../operator/pause-and-hold.js';
import { whileWaiting } from '../operator/wait.js';
import { shareOf } from '../policies/subagents/share.js';
import type { Run } from '../state/run.js';
import { followInBackground } from './background-subagents.js';
import { followSubagent } from './follow-subagent.js';
import { settleSubagent } from './settle-subagent.js';
import { type Settled, settledOwn } from './settled-call.js';
import { type StartedSubagent, startSubagent } from './start-subagent.js';
import { failedResult, notStartedResult, textResult } from './tool-results.js';

/** True for a call that a sub-agent answers. */
export function isDelegated({ prepared }: Run, { name }: Pick<ToolCallPart, 'name'>): boolean {
  return prepared.delegation !== undefined && name === DELEGATE_TOOL;
}

/**
 * Runs a call of tool `delegate`: starts a sub-agent, or follows the one that an earlier history started, until it ends. The result of the
 * call is its answer; a sub-agent that fails is a failed result. `continue-as-new`: it is still at work. With `wait: false` the call returns
 * once the sub-agent is started, and its answer comes as a message.
 */
export async function delegate(run: Run, call: ToolCallPart, delegation: PreparedDelegation): Promise<Settled | 'continue-as-new'> {
  const request = readRequest(call.args, delegation);
  if ('problem' in request) return refused(run, call, request.problem);
  const known = run.subagents.ofCall(call.callId);
  const started = known ? { subagent: known, handle: undefined } : await start(run, { ...request, callId: call.callId }, delegation);
  if (started === 'stopped') return settledOwn(notStartedResult(call, run.counters.turn, 'the run stops'), 'cancelled');
  if ('problem' in started) return refused(run, call, started.problem);
  const { subagent, handle } = started;
  if (subagent.background) {
    // not awaited: the loop takes turns meanwhile
    void followInBackground(run, { subagent, ...(handle ? { handle } : {}) });
    return settledOwn(textResult(call, run.counters.turn, `started sub-agent ${subagent.runId}; its answer comes as a message`), 'ok');
  }
  const end = await whileWaiting(run, `sub-agent ${subagent.runId}`, () => followSubagent(run, subagent, handle));
  return end === 'continue-as-new' ? end : settle(run, { call, subagent, end });
}

/** Called before a call: waits until the run has fewer sub-agents at work than it may have. `go`: the call may start. */
export async function waitForPlace(run: Run, call: ToolCallPart, { liveMax }: PreparedDelegation): Promise<Continuation> {
  const hasPlace = (): boolean => run.subagents.hasPlace(call.callId, liveMax);
  // asked again: of several calls that wait, one takes the place
  while (!run.mustStop && !run.subagents.takePlace(call.callId, liveMax)) {
    if (run.historyIsLong()) return 'continue-as-new';
    const isOver = (): boolean => hasPlace() || run.mustStop || run.historyIsLong();
    await whileWaiting(run, `one of ${liveMax} sub-agents to end`, () => condition(isOver));
  }
  return run.mustStop ? 'stop' : 'go';
}

interface Request {
  readonly agent: string;
  readonly task: string;
  readonly background: boolean;
}

function readRequest(args: JsonValue, { agents, background }: PreparedDelegation): Request | { readonly problem: string } {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  const { agent, task, wait } = given;
  const names = agents.map(({ name }) => name);
  const fields = ['agent', 'task', ...(background ? ['wait'] : [])];
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  if (unknown !== undefined) return { problem: `${unknown}: unknown${didYouMean(unknown, fields)}` };
  if (typeof agent !== 'string' || !names.includes(agent)) {
    const named = typeof agent === 'string' ? `no sub-agent named ${JSON.stringify(agent.slice(0, 80))}` : 'agent: a text is needed';
    return { problem: `${named}${typeof agent === 'string' ? didYouMean(agent, names) : ''}; available: ${names.join(', ')}` };
  }
  if (typeof task !== 'string' || task.trim() === '') return { problem: 'task: a text is needed; say all that the sub-agent must know' };
  const { taskCharsMax } = SUBAGENT_LIMITS;
  if (task.length > taskCharsMax) return { problem: `task: ${task.length} characters, at most ${taskCharsMax}; write it to a file` };
  // some models send null for a field that they leave out
  const waits = wait ?? true;
  if (typeof waits !== 'boolean') return { problem: 'wait: true or false is needed' };
  return { agent, task, background: !waits };
}

async function start(
  run: Run,
  request: Request & { readonly callId: string },
  delegation: PreparedDelegation,
): Promise<StartedSubagent | { readonly problem: string } | 'stopped'> {
  if (run.mustStop) return 'stopped';
  const share = shareOf({ left: leftOf(run), calls: run.subagents.takeCall() });
  if (share === 'spent') return { problem: 'not started: the rest of the budget is too small for a sub-agent' };
  return await startSubagent(run, { ...request, share }, delegation);
}

/** What is left of the run's limits for sub-agents: without what live ones may spend, and without the run's own next request. */
function leftOf(run: Run): SubagentShare {
  const { maxTokens, maxCostUsd } = run.caps;
  const { used, costUsd } = run.spending.committed();
  const reserved = run.subagents.reserved;
  const own = run.inputTokensEstimate() + MODEL_LIMITS.outputTokensMin;
  return {
    ...(maxTokens === undefined ? {} : { tokens: maxTokens - used.inputTokens - used.outputTokens - reserved.tokens - own }),
    ...(maxCostUsd === undefined ? {} : { costUsd: maxCostUsd - costUsd - reserved.costUsd }),
  };
}

/** A call whose sub-agent ended. */
interface EndedCall {
  readonly call: ToolCallPart;
  readonly subagent: LiveSubagent;
  readonly end: AwaitRunResult;
}

/** The result of a call whose sub-agent ended. */
function settle(run: Run, { call, subagent, end }: EndedCall): Settled {
  const { turn } = run.counters;
  const { reason, ending, output } = settleSubagent(run, subagent, end);
  if (end.kind === 'lost') return settledOwn(failedResult(call, turn, `[outcome unknown] ${ending}`), 'unknown');
  if (reason === 'completed') return settledOwn(textResult(call, turn, output), 'ok');
  const message = failedResult(call, turn, `[${ending}]${output === '' ? '' : `\n${output}`}`);
  return settledOwn(message, reason === 'cancelled' ? 'cancelled' : 'failed');
}

function refused(run: Run, call: ToolCallPart, problem: string): Settled {
  return settledOwn(failedResult(call, run.counters.turn, problem), 'failed');
}
