import { workflowInfo } from '@temporalio/workflow';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../../contracts/activities.js';
import { RUN_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { hashMessage } from '../../contracts/digest.js';
import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import type { Effect, ToolDescriptor } from '../../contracts/schemas/tool.js';
import { toolTitle } from '../../contracts/tool-title.js';
import { publishStatus } from '../operator/progress.js';
import { whileWaiting } from '../operator/wait.js';
import { outputBounds } from '../policies/tools/output-bounds.js';
import type { Run } from '../state/run.js';
import { type ActivityProblem, readActivityProblem } from '../temporal/failures.js';
import { callTool, reconcileTool, type ToolPlacement } from '../temporal/proxies.js';
import { failedResult, notStartedResult, stoppedResult, unknownOutcomeResult, unknownToolText } from './tool-results.js';

/** A call with its one result. `returned`: an activity made the message, so its worker has it cached. */
export interface SettledCall {
  readonly message: Message;
  readonly hash: string;
  readonly returned: boolean;
  /** A hook after the tool wants the run to end, with this reason. */
  readonly abort?: string;
}

/** Runs one call to its one result, whatever happens to the workers it runs on. Never throws for a failing tool. */
export async function runToolCall(run: Run, call: ToolCallPart, index: number): Promise<SettledCall> {
  const tool = run.descriptor(call.name);
  const title = toolTitle(call.name, call.args);
  run.tool = title;
  run.counters.toolCalls += 1;
  announce(run, call, title, tool);
  const startedAt = Date.now();
  const settled = tool
    ? await settle(run, { call, tool, title, input: inputFor(run, call, tool, index) })
    : await settleUnknown(run, call, index);
  report(run, settled, Date.now() - startedAt);
  return settled.call;
}

/** The result of a call that nothing was started for, because of `why`. */
export function notStarted(run: Run, call: ToolCallPart, why: string): SettledCall {
  return withoutRunning(run, call, settledOwn(notStartedResult(call, run.counters.turn, why), 'cancelled'));
}

/** Answers a call with a text in place of running it: the model reads a failed result that says why. */
export function answerCall(run: Run, call: ToolCallPart, text: string, outcome: ToolOutcome = 'failed'): SettledCall {
  return withoutRunning(run, call, settledOwn(failedResult(call, run.counters.turn, text), outcome));
}

/** The result of a call whose answer was given before; the workflow wrote the message. */
export function answerRemembered(run: Run, call: ToolCallPart, message: Message): SettledCall {
  return withoutRunning(run, call, settledOwn(message, 'ok'));
}

/** A call that was not run has its begin and its end among the events too, but is not counted. */
function withoutRunning(run: Run, call: ToolCallPart, settled: Settled): SettledCall {
  announce(run, call, toolTitle(call.name, call.args), run.descriptor(call.name));
  report(run, settled, 0);
  return settled.call;
}

interface Settled {
  readonly call: SettledCall;
  readonly outcome: ToolOutcome;
}

/** One call of a known tool, on its way to its result. */
interface OpenCall {
  readonly call: ToolCallPart;
  readonly tool: ToolDescriptor;
  readonly title: string;
  readonly input: CallToolInput;
}

async function settle(run: Run, open: OpenCall): Promise<Settled> {
  const { call, tool, input, title } = open;
  const { turn } = run.counters;
  const state = { losses: 0, reconciled: false };
  for (;;) {
    if (run.mustStop) return stopped(run, call, state.losses);
    const { result, problem } = await startOnHost(run, tool, (placement) =>
      callTool(input, { summary: `turn ${turn}: ${title}`, placement }),
    );
    if (result) return settledBy(result);
    if (run.mustStop && (problem.cancelled || problem.notPolled)) return stopped(run, call, state.losses);
    if (!wasLost(problem, tool)) return settledOwn(failedResult(call, turn, `${problem.type}: ${problem.message}`), outcomeOf(problem));
    state.losses += 1;
    run.events.add({ type: 'worker.lost', turn, activity: call.name, losses: state.losses });
    const settled = await settleLoss(run, open, state);
    if (settled) return settled;
  }
}

/** Stands for a tool that there is not, where only the hooks after a tool are asked. */
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

/** Nothing runs. Hooks that mean any tool are asked about the failed result all the same. */
async function settleUnknown(run: Run, call: ToolCallPart, index: number): Promise<Settled> {
  const unknownTool = unknownToolText(call, run.toolNames());
  if (!run.policy.hooks.unknownTools) return settledOwn(failedResult(call, run.counters.turn, unknownTool), 'failed');
  const tool = { ...NO_TOOL, name: call.name };
  const input = { ...inputFor(run, call, tool, index), unknownTool };
  return await settle(run, { call, tool, title: toolTitle(call.name, call.args), input });
}

/** True when the call was started and nobody says how it ended. Only a `once` call cannot simply be tried again after its time was over. */
function wasLost(problem: ActivityProblem, { effect }: ToolDescriptor): boolean {
  return problem.workerLost || problem.cancelled || (problem.type === 'Timeout.START_TO_CLOSE' && effect === 'once');
}

/** Decides by effect what a lost worker means; undefined: run the call again with the same key. */
async function settleLoss(run: Run, open: OpenCall, state: { losses: number; reconciled: boolean }): Promise<Settled | undefined> {
  const { call, tool, input } = open;
  const unknown = settledOwn(unknownOutcomeResult(call, run.counters.turn), 'unknown');
  const next = afterWorkerLoss({ effect: tool.effect, hasReconcile: tool.hasReconcile, losses: state.losses });
  if (next === 'again') return undefined;
  // only one `not_started` may start the call again; after that its outcome is as unknown as any
  if (next === 'unknown' || state.reconciled || run.mustStop) return unknown;
  state.reconciled = true;
  for (let losses = 0; losses < TOOL_LIMITS.attemptsMax; losses += 1) {
    const { result, problem } = await startOnHost(run, tool, (placement) =>
      reconcileTool(input, { summary: `turn ${run.counters.turn}: what became of ${call.name}?`, placement }),
    );
    if (result?.kind === 'done') return settledBy(result.result);
    if (result?.kind === 'not_started') return undefined;
    if (result || run.mustStop || !problem.workerLost) return unknown;
  }
  return unknown;
}

type Attempted<T> = { readonly result: T; readonly problem?: never } | { readonly result?: never; readonly problem: ActivityProblem };

/** One start where the tool runs. A host that nobody polls for is said after a minute; the next start lies there as long as it takes. */
async function startOnHost<T>(run: Run, tool: ToolDescriptor, start: (placement: ToolPlacement) => Promise<T>): Promise<Attempted<T>> {
  const placement = placementFor(run, tool);
  const first = await attempt(run, () => start(placement));
  if (!first.problem?.notPolled || placement.queue === undefined || run.mustStop) return first;
  const { queue } = placement;
  return await whileWaiting(run, 'worker with workspace', () => attempt(run, () => start({ queue })));
}

async function attempt<T>(run: Run, start: () => Promise<T>): Promise<Attempted<T>> {
  try {
    return { result: await run.calls.abortable(start) };
  } catch (error) {
    return { problem: readActivityProblem(error) };
  }
}

function placementFor(run: Run, tool: ToolDescriptor): ToolPlacement {
  const queue = tool.workspace ? run.prepared.toolQueue : undefined;
  return queue === undefined ? {} : { queue, queueWaitMs: WORKER_LIMITS.toolQueueWaitMs };
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
    ...(run.input.context?.workspace === undefined ? {} : { workspace: run.input.context.workspace }),
    ...(policy ? { agent: run.prepared.setup.agent, output: outputBounds(policy.output, contextWindow) } : {}),
  };
}

function announce(run: Run, call: ToolCallPart, title: string, tool: ToolDescriptor | undefined): void {
  const effect = tool?.effect ?? 'none';
  run.events.add({ type: 'tool.call', turn: run.counters.turn, callId: call.callId, tool: call.name, title, effect });
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

/** A stop ended the call. One that was started on a worker that is lost may have done something. */
function stopped(run: Run, call: ToolCallPart, losses: number): Settled {
  const why = whyStopped(run);
  const result = losses === 0 ? notStartedResult(call, run.counters.turn, why) : stoppedResult(call, run.counters.turn, why);
  return settledOwn(result, 'cancelled');
}

function whyStopped({ inbox }: Run): string {
  return inbox.cancelRequest ? 'cancelled' : 'deadline reached';
}

function settledBy(result: CallToolResult): Settled {
  const { message, hash, outcome, abort } = result;
  return { call: { message, hash, returned: true, ...(abort === undefined ? {} : { abort }) }, outcome };
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

/** What to do after the worker of a tool call was lost. */
export type AfterLoss = 'again' | 'reconcile' | 'unknown';

/** Decides by effect: what may repeat runs again with the same key; what may be done once is looked at, or is unknown. */
export function afterWorkerLoss(facts: { effect: Effect; hasReconcile: boolean; losses: number }): AfterLoss {
  if (facts.losses > RUN_LIMITS.workerLossesMax) return 'unknown';
  if (facts.effect !== 'once') return 'again';
  return facts.hasReconcile ? 'reconcile' : 'unknown';
}
