import { workflowInfo } from '@temporalio/workflow';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../contracts/activities.js';
import { hashMessage } from '../contracts/digest.js';
import { WORKER_LIMITS } from '../contracts/limits.js';
import type { Message, ToolCallPart } from '../contracts/message.js';
import type { ToolDescriptor } from '../contracts/tool.js';
import { toolTitle } from '../contracts/tool-title.js';
import { failedResult, notStartedResult, unknownOutcomeResult, unknownToolResult } from './call-results.js';
import { type ActivityProblem, readActivityProblem } from './failures.js';
import { afterWorkerLoss } from './policies/worker-loss.js';
import { publishStatus } from './progress.js';
import { callTool, reconcileTool, type ToolPlacement } from './proxies.js';
import type { Run } from './run.js';

/** A call with its one result. `returned`: an activity made the message, so its worker has it cached. */
export interface SettledCall {
  readonly message: Message;
  readonly hash: string;
  readonly returned: boolean;
}

/** Runs one call to its one result, whatever happens to the workers it runs on. Never throws for a failing tool. */
export async function runToolCall(run: Run, call: ToolCallPart, index: number): Promise<SettledCall> {
  const tool = run.descriptor(call.name);
  if (!tool) return own(unknownToolResult(call, run.counters.turn, run.toolNames()));
  const title = toolTitle(call.name, call.args);
  announce(run, call, tool, title);
  const startedAt = Date.now();
  const settled = await settle(run, call, tool, inputFor(run, call, tool, index), title);
  report(run, settled, Date.now() - startedAt);
  return settled.call;
}

interface Settled {
  readonly call: SettledCall;
  readonly outcome: ToolOutcome;
}

async function settle(run: Run, call: ToolCallPart, tool: ToolDescriptor, input: CallToolInput, title: string): Promise<Settled> {
  const { turn } = run.counters;
  const state = { losses: 0, placement: placementFor(run, tool), reconciled: false };
  for (;;) {
    if (run.mustStop) return settledOwn(notStartedResult(call, turn, 'cancelled'), 'cancelled');
    const { result, problem } = await attempt(run, () =>
      callTool(input, { summary: `turn ${turn}: ${title}`, placement: state.placement }),
    );
    if (result) return settledBy(result);
    if (problem.cancelled) return settledOwn(notStartedResult(call, turn, 'cancelled'), 'cancelled');
    if (problem.notPolled) {
      waitForHost(run, state);
      continue;
    }
    run.waitingFor = undefined;
    if (!problem.workerLost) return settledOwn(failedResult(call, turn, `${problem.type}: ${problem.message}`), outcomeOf(problem));
    state.losses += 1;
    run.events.add({ type: 'worker.lost', turn, activity: call.name, losses: state.losses });
    const settled = await settleLoss(run, call, tool, input, state);
    if (settled) return settled;
  }
}

/** Decides by effect what a lost worker means; undefined: run the call again with the same key. */
async function settleLoss(
  run: Run,
  call: ToolCallPart,
  tool: ToolDescriptor,
  input: CallToolInput,
  state: { losses: number; placement: ToolPlacement; reconciled: boolean },
): Promise<Settled | undefined> {
  const unknown = settledOwn(unknownOutcomeResult(call, run.counters.turn), 'unknown');
  const next = afterWorkerLoss({ effect: tool.effect, hasReconcile: tool.hasReconcile, losses: state.losses });
  if (next === 'again') return undefined;
  // only one `not_started` may start the call again; after that its outcome is as unknown as any
  if (next === 'unknown' || state.reconciled || run.mustStop) return unknown;
  state.reconciled = true;
  for (let losses = 0; losses < 3; losses += 1) {
    const { result, problem } = await attempt(run, () =>
      reconcileTool(input, { summary: `turn ${run.counters.turn}: what became of ${call.name}?`, placement: state.placement }),
    );
    if (result?.kind === 'done') return settledBy(result.result);
    if (result?.kind === 'not_started') return undefined;
    if (result || !problem.workerLost) return unknown;
  }
  return unknown;
}

type Attempted<T> = { readonly result: T; readonly problem?: never } | { readonly result?: never; readonly problem: ActivityProblem };

async function attempt<T>(run: Run, start: () => Promise<T>): Promise<Attempted<T>> {
  try {
    return { result: await run.abortable(start) };
  } catch (error) {
    return { problem: readActivityProblem(error) };
  }
}

/** Nobody polls the queue of the workspace's host: say so, and let the next try lie there as long as it takes. */
function waitForHost(run: Run, state: { placement: ToolPlacement }): void {
  state.placement = state.placement.queue === undefined ? {} : { queue: state.placement.queue };
  run.waitingFor = 'worker with workspace';
  run.events.add({ type: 'waiting', for: run.waitingFor });
  publishStatus(run);
}

function placementFor(run: Run, tool: ToolDescriptor): ToolPlacement {
  const queue = tool.workspace ? run.prepared.toolQueue : undefined;
  return queue === undefined ? {} : { queue, queueWaitMs: WORKER_LIMITS.toolQueueWaitMs };
}

function inputFor(run: Run, call: ToolCallPart, tool: ToolDescriptor, index: number): CallToolInput {
  const { turn } = run.counters;
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
    ...(run.input.context?.workspace === undefined ? {} : { workspace: run.input.context.workspace }),
  };
}

function announce(run: Run, call: ToolCallPart, tool: ToolDescriptor, title: string): void {
  run.tool = title;
  run.counters.toolCalls += 1;
  run.events.add({ type: 'tool.call', turn: run.counters.turn, callId: call.callId, tool: call.name, title, effect: tool.effect });
  publishStatus(run);
}

function report(run: Run, settled: Settled, durationMs: number): void {
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

function settledBy(result: CallToolResult): Settled {
  return { call: { message: result.message, hash: result.hash, returned: true }, outcome: result.outcome };
}

function settledOwn(message: Message, outcome: ToolOutcome): Settled {
  return { call: own(message), outcome };
}

function own(message: Message): SettledCall {
  return { message, hash: hashMessage(message), returned: false };
}

function outcomeOf(problem: ActivityProblem): ToolOutcome {
  return problem.type === 'Timeout.START_TO_CLOSE' ? 'timeout' : 'failed';
}
