import { workflowInfo } from '@temporalio/workflow';
import type { CallToolInput, ToolOutcome } from '../../contracts/activities.js';
import { MEMO_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { toolTitle } from '../../contracts/text/tool-title.js';
import { waitForRoom } from '../operator/wait.js';
import { outputBounds } from '../policies/tools/output-bounds.js';
import type { Run } from '../state/run.js';
import { type ActivityProblem, afterLoss, lossShown } from '../temporal/failures.js';
import { callTool } from '../temporal/proxies.js';
import { endCallQuestions, followQuestions } from './call-requests/call-questions.js';
import { withSamplings } from './call-requests/call-samplings.js';
import { delegate, isDelegated, waitForPlace } from './delegate.js';
import { handoff, isHandoff } from './handoff.js';
import { type LossState, settleLoss } from './settle-loss.js';
import { type Settled, type SettledCall, settledBy, settledOwn } from './settled-call.js';
import { sleepThrough } from './sleep.js';
import { type OpenCall, placementFor, startOnHost } from './start-on-host.js';
import { failedResult, notStartedResult, stoppedResult, unknownToolText } from './tool-results.js';

/**
 * Runs one call until it has its result, also when workers are lost. Never throws for a failing tool. `continue-as-new`: its sub-agent is
 * still at work, or it still sleeps, and the next history follows it.
 */
export async function runToolCall(run: Run, call: ToolCallPart, index: number): Promise<SettledCall | 'continue-as-new'> {
  const tool = run.descriptor(call.name);
  const { delegation, handoffs } = run.prepared;
  const isForSubagent = delegation !== undefined && isDelegated(run, call);
  if (isForSubagent && (await waitForPlace(run, call, delegation)) === 'continue-as-new') return 'continue-as-new';
  const title = toolTitle(call.name, call.args);
  run.tool = title;
  run.lastTool = title;
  // an earlier history started it: it was counted there
  if (!run.subagents.ofCall(call.callId) && !run.waits.sleeps.has(call.callId)) openCall(run, call);
  const startedAt = Date.now();
  const settled = isForSubagent
    ? await delegate(run, call, delegation).finally(() => run.subagents.freePlace(call.callId))
    : handoffs && isHandoff(run, call)
      ? await handoff(run, call, handoffs)
      : tool?.waits === 'sleep'
        ? await sleepThrough(run, call)
        : tool
          ? await settleTool(run, { call, tool, title, input: inputFor(run, call, tool, index) })
          : await settleUnknown(run, call, index);
  if (settled === 'continue-as-new') return settled;
  return closeCall(run, settled, Date.now() - startedAt);
}

/** Counts a call that the run answers itself, and adds its start event. */
export function openCall(run: Run, call: ToolCallPart): void {
  run.counters.toolCalls += 1;
  announce(run, call, toolTitle(call.name, call.args), run.descriptor(call.name));
}

/** Adds the end event of such a call. */
export function closeCall(run: Run, settled: Settled, durationMs: number): SettledCall {
  report(run, settled, durationMs);
  return settled.call;
}

/** The result of a call that was not started, because of `why`. */
export function notStarted(run: Run, call: ToolCallPart, why: string): SettledCall {
  return withoutRunning(run, call, settledOwn(notStartedResult(call, run.counters.turn, why), 'cancelled'));
}

/** Answers a call with a failed result instead of running it. `text` is the reason for the model. */
export function answerCall(run: Run, call: ToolCallPart, text: string, outcome: ToolOutcome = 'failed'): SettledCall {
  return withoutRunning(run, call, settledOwn(failedResult(call, run.counters.turn, text), outcome));
}

/** The result of a call from the memo; the workflow made the message. */
export function answerRemembered(run: Run, call: ToolCallPart, message: Message): SettledCall {
  return withoutRunning(run, call, settledOwn(message, 'ok'));
}

/** Adds the start and end events of a call that was not run. It is not counted as a tool call. */
function withoutRunning(run: Run, call: ToolCallPart, settled: Settled): SettledCall {
  announce(run, call, toolTitle(call.name, call.args), run.descriptor(call.name));
  report(run, settled, 0);
  return settled.call;
}

/** Runs a call of a known tool, with the questions and completions that it requests meanwhile. */
function settleTool(run: Run, open: OpenCall): Promise<Settled> {
  const { call, tool } = open;
  const work = (): Promise<Settled> =>
    settle(run, open).finally(() => {
      if (tool.asks) endCallQuestions(run, call.callId);
    });
  return tool.samples ? withSamplings(run, call, { bounds: tool.samples, work }) : work();
}

async function settle(run: Run, open: OpenCall): Promise<Settled> {
  const { call, tool, input, title } = open;
  const { turn } = run.counters;
  const { heartbeatTimeoutMs } = run.prepared;
  const state: LossState = { losses: 0, reconciled: false };
  for (;;) {
    if (run.mustStop) return stopped(run, call, state.losses);
    const work = startOnHost(run, tool, (placement) =>
      callTool(input, { summary: `turn ${turn}: ${title}${afterLoss(state.losses)}`, heartbeatTimeoutMs, placement }),
    );
    const { result, problem } = await (tool.asks ? followQuestions(run, call, work) : work);
    if (result) {
      const notice = run.agent.noteTools(result.toolList);
      if (notice !== undefined) run.events.add({ type: 'notice', text: notice });
      return settledBy(result);
    }
    if (problem.type === 'Worker.DiskFull') {
      await waitForRoom(run, problem, placementFor(run, tool).queue);
      continue;
    }
    if (run.mustStop && (problem.cancelled || problem.notPolled)) return stopped(run, call, state.losses);
    if (!wasLost(problem, tool)) return settledOwn(failedResult(call, turn, `${problem.type}: ${problem.message}`), outcomeOf(problem));
    state.losses += 1;
    run.events.add({ type: 'worker.lost', turn, activity: call.name, losses: state.losses, ...lossShown(problem) });
    const settled = await settleLoss(run, open, { problem, state });
    if (settled) return settled;
  }
}

/** The descriptor of an unknown tool, for which only the hooks after a tool run. */
const NO_TOOL: Omit<ToolDescriptor, 'name'> = {
  description: '',
  schema: {},
  effect: 'read',
  timeoutMs: TOOL_LIMITS.timeoutMsDefault,
  pure: false,
  approval: false,
  hasReconcile: false,
  workspace: false,
};

/** Makes the failed result of an unknown tool. Hooks that match any tool run on this result too. */
async function settleUnknown(run: Run, call: ToolCallPart, index: number): Promise<Settled> {
  const unknownTool = unknownToolText(call, run.toolNames());
  if (!run.policy.hooks.unknownTools) return settledOwn(failedResult(call, run.counters.turn, unknownTool), 'failed');
  const tool = { ...NO_TOOL, name: call.name };
  const input = { ...inputFor(run, call, tool, index), unknownTool };
  return await settle(run, { call, tool, title: toolTitle(call.name, call.args), input });
}

/** True when the call was started and its outcome is unknown. A `once` call that timed out counts too, because it must not be retried. */
function wasLost(problem: ActivityProblem, { effect }: ToolDescriptor): boolean {
  return problem.workerLost || problem.cancelled || (problem.type === 'Timeout.START_TO_CLOSE' && effect === 'once');
}

function inputFor(run: Run, call: ToolCallPart, tool: ToolDescriptor, index: number): CallToolInput {
  const { turn } = run.counters;
  const { policy, contextWindow } = run.prepared;
  return {
    runId: run.runId,
    turn,
    callId: call.callId,
    tool: call.name,
    args: call.args,
    ...(call.argsText === undefined ? {} : { argsText: call.argsText }),
    key: `${run.runId}/${workflowInfo().firstExecutionRunId}/${turn}/${index}`,
    effect: tool.effect,
    timeoutMs: tool.timeoutMs,
    waitsForRoom: true,
    ...(tool.asks ? { asks: { expireMs: run.policy.askExpireMs } } : {}),
    ...(tool.samples ? { samples: tool.samples } : {}),
    ...(run.input.context?.workspace === undefined ? {} : { workspace: run.input.context.workspace }),
    ...(policy ? { agent: run.prepared.setup.agent, output: outputBounds(policy.output, contextWindow) } : {}),
  };
}

function announce(run: Run, call: ToolCallPart, title: string, tool: ToolDescriptor | undefined): void {
  const effect = tool?.effect ?? 'none';
  run.events.add({ type: 'tool.call', turn: run.counters.turn, callId: call.callId, tool: call.name, title, effect });
}

function report(run: Run, settled: Settled, durationMs: number): void {
  if (settled.outcome === 'unknown') noteUnknown(run, settled.call.message.id);
  const part = settled.call.message.parts[0];
  run.events.add({
    type: 'tool.result',
    turn: run.counters.turn,
    callId: settled.call.message.id,
    isError: part?.type === 'tool_result' && part.isError,
    outcome: settled.outcome,
    durationMs,
    bytes: JSON.stringify(settled.call.message).length,
  });
}

/** Notes a call that may or may not have taken effect, for the result of the run. */
function noteUnknown(run: Run, callId: string): void {
  run.unknownOutcomes.push(callId);
  if (run.unknownOutcomes.length > MEMO_LIMITS.unknownOutcomesMax) run.unknownOutcomes.shift();
  run.steps.countUnknown();
}

/** The result of a call that a stop ended. After a lost worker the call may have taken partial effect. */
function stopped(run: Run, call: ToolCallPart, losses: number): Settled {
  const why = whyStopped(run);
  const result = losses === 0 ? notStartedResult(call, run.counters.turn, why) : stoppedResult(call, run.counters.turn, why);
  return settledOwn(result, 'cancelled');
}

function whyStopped({ inbox }: Run): string {
  return inbox.cancelRequest ? 'cancelled' : 'deadline reached';
}

function outcomeOf(problem: ActivityProblem): ToolOutcome {
  return problem.type === 'Timeout.START_TO_CLOSE' ? 'timeout' : 'failed';
}
