import { CancelledFailure } from '@temporalio/common';
import { allHandlersFinished, CancellationScope, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { CAPABILITY_LEVEL } from '../contracts/capability-level.js';
import { hostQueueOf, namedHost } from '../contracts/constants/host-queue.js';
import { RUN_LIMITS } from '../contracts/constants/limits.js';
import type { RunEventBody } from '../contracts/event.js';
import { givenConversation } from '../contracts/message-text.js';
import type { CarriedState, WrittenState } from '../contracts/schemas/carried-state.js';
import type { Message } from '../contracts/schemas/message.js';
import type { RunInput, RunResult } from '../contracts/schemas/run.js';
import type { HandlerContext } from './handlers/handler-context.js';
import { registerHandlers } from './handlers/handlers.js';
import { parentProblem } from './handlers/parent-signals.js';
import { registerTenantAnswers } from './handlers/tenant-answers.js';
import { endHold } from './operator/pause-and-hold.js';
import { publishAttributes, serveDetails, statusAttributes } from './operator/progress.js';
import { showDecision } from './operator/wait.js';
import { leaveTenant } from './operator/wait-for-tenant.js';
import { appendOnce, repairHistory } from './policies/transcript/repair-transcript.js';
import { runTurns } from './run-turn.js';
import { readCarriedState } from './state/carried-state.js';
import { EventLog } from './state/event-log.js';
import { Inbox } from './state/inbox.js';
import { Run } from './state/run.js';
import { buildResult, type Ending, unpreparedResult } from './state/run-result.js';
import { ParentContinued } from './state/subagents/parent-continued.js';
import { readActivityProblem, runFailure } from './temporal/failures.js';
import { awaitRoom, prepareRun } from './temporal/proxies.js';
import { conversationProblem } from './temporal/session-parent.js';
import { readStart, type StartProblem } from './temporal/start-arguments.js';
import { followCarried, stopSubagents } from './tools/background-subagents.js';
import { tellContinued } from './tools/follow-subagent.js';
import { compactToCarry } from './turn/compact-transcript.js';
import { keepConversation, mustCopyConversation } from './turn/copy-conversation.js';
import { endCommands } from './turn/end-commands.js';
import { type FinalOutput, finalOutput, hasFinalCall } from './turn/final-answer.js';
import { beforeRun } from './turn/run-hooks.js';

/**
 * One run of one agent: the durable loop. Completes with a RunResult, whose `reason` is why it ended. Fails only for reason `error`,
 * with the whole result in the failure's details. `state` is the state that continue-as-new carried over.
 */
export async function agentRun(input: RunInput, state?: WrittenState): Promise<RunResult> {
  const given = readStart(input, state);
  const carried = given.state === undefined ? undefined : readCarriedState(given.state);
  const events = carried ? EventLog.from(carried.events) : new EventLog();
  const parentContinued = new ParentContinued(() => context.run?.policy.tellsOwnSubagents === true, carried?.parentContinued);
  const context: HandlerContext = {
    input: given.input,
    inbox: new Inbox(carried),
    events,
    parentContinued,
    run: undefined,
    refused: undefined,
  };
  // the first task of a history may deliver an update: the run must exist before the handlers do
  if (carried) context.run = new Run({ ...context, prepared: carried.prepared, carried });
  registerHandlers(context);
  watchTemporalCancellation(context);
  // a cancel aborts the run's own scopes, so that activities can still run during cleanup
  return CancellationScope.nonCancellable(async () => (given.problem ? refuse(context, given.problem) : await runToEnd(context, carried)));
}

async function runToEnd(context: HandlerContext, carried: CarriedState | undefined): Promise<RunResult> {
  const preparation = context.run ? ({ kind: 'prepared', run: context.run } as const) : await prepare(context);
  if (preparation.kind === 'refused') return refuse(context, preparation.problem);
  const { run } = preparation;
  context.run = run;
  open(run, carried);
  // one watcher for the whole run, not one per call: every condition is evaluated in every activation
  void condition(() => run.inbox.cancelRequest !== undefined).then(() => run.calls.abort());
  if (mustCopyConversation(run.transcript, Date.now())) await keepConversation(run);
  const refusal = carried ? await letHandlersEnd() : await beforeRun(run);
  for (;;) {
    const ending = refusal ?? (await runTurns(run));
    if (ending.kind === 'end' && run.subagents.live.length > 0) await stopSubagents(run);
    const answer = ending.kind === 'end' ? await finalOutput(run, ending) : undefined;
    if (ending.kind === 'end' && run.tenant && !isOvertaken(run, ending)) await leaveTenant(run);
    if (ending.kind === 'end' && run.prepared.endsCommands && !isOvertaken(run, ending)) await endCommands(run);
    await condition(allHandlersFinished);
    // a stop is not carried over: the run ends in this history
    if (ending.kind === 'end' && answer && !isOvertaken(run, ending)) return close(run, answer.ending ?? ending, answer);
    if (ending.kind === 'continue-as-new' && !run.mustStop) {
      // nothing is awaited in a run without sub-agents: the next history begins with this task
      const isAlone = run.subagents.live.length === 0 && !(run.policy.tellsOwnSubagents && run.parentContinued.awaitsCancel);
      const mayContinue = isAlone || (await tellSubagents(run));
      if (mayContinue) return continueAsNew(run);
    }
    // the final call stopped the clock, but the run continues
    if (ending.kind === 'end') run.clock.start();
  }
}

/** Microtasks in which the SDK completes an update whose handler does not await, and one to spare. */
const HANDLER_STEPS = 3;

/**
 * The first task of a continued history may deliver updates and a cancellation together with its start. They take effect before the
 * first command, as in every saved history.
 */
async function letHandlersEnd(): Promise<undefined> {
  for (let step = 0; step < HANDLER_STEPS; step += 1) await Promise.resolve();
}

/** Ends a run that could not be prepared. Its events contain a start and an end too. */
function refuse(context: HandlerContext, problem: StartProblem | undefined): RunResult {
  const { input, events, inbox } = context;
  events.add({ type: 'run.started', agent: input.agent ?? 'default', model: input.model ?? '', maxTurns: input.maxTurns ?? 0 });
  inbox.closeAll();
  const result = unpreparedResult(inbox, problem);
  events.add(endEvent(result));
  context.refused = result;
  return end(result, inbox);
}

/** True when a message arrived after the final answer and the run has a turn left for it. A chat has one turn. */
function isOvertaken(run: Run, { reason }: Extract<Ending, { kind: 'end' }>): boolean {
  return reason === 'completed' && run.input.mode !== 'chat' && run.inbox.hasUnread && run.stopReason() === undefined;
}

/** The outcome of the preparation. `refused` without a problem: the run was cancelled first. */
type Preparation =
  | { readonly kind: 'prepared'; readonly run: Run }
  | { readonly kind: 'refused'; readonly problem: StartProblem | undefined };

async function prepare(context: HandlerContext): Promise<Preparation> {
  const { workflowId, startTime, firstExecutionRunId } = workflowInfo();
  const notChild = parentProblem(context.input) ?? conversationProblem(context.input);
  if (notChild !== undefined) return { kind: 'refused', problem: { type: 'Input.Invalid', message: notChild } };
  const scope = new CancellationScope();
  void condition(() => context.inbox.cancelRequest !== undefined).then(() => scope.cancel());
  for (let losses = 0; ; ) {
    try {
      const prepared = await scope.run(() =>
        prepareRun({
          runId: workflowId,
          input: context.input,
          level: CAPABILITY_LEVEL,
          started: { at: startTime.toISOString(), executionId: firstExecutionRunId },
          waitsForRoom: true,
        }),
      );
      return { kind: 'prepared', run: new Run({ ...context, prepared }) };
    } catch (error) {
      const problem = readActivityProblem(error);
      const isStopped = context.inbox.cancelRequest !== undefined;
      if (problem.type === 'Worker.DiskFull' && !isStopped) {
        await untilRoom(context, scope, problem.message);
        continue;
      }
      losses += problem.workerLost ? 1 : 0;
      if (problem.workerLost && !isStopped && losses <= RUN_LIMITS.workerLossesMax) continue;
      return { kind: 'refused', problem: isStopped ? undefined : problem };
    }
  }
}

/** Waits, before there is a run, until the disk of a worker has room. A cancel ends the wait. */
async function untilRoom(context: HandlerContext, scope: CancellationScope, waitingFor: string): Promise<void> {
  context.waitingFor = waitingFor;
  context.events.add({ type: 'waiting', for: waitingFor });
  try {
    const host = namedHost(context.input);
    await scope.run(() => awaitRoom(host === undefined ? undefined : hostQueueOf(host)));
  } catch (error) {
    // the next attempt to prepare the run fails in the same way
    readActivityProblem(error);
  } finally {
    context.waitingFor = undefined;
  }
}

function open(run: Run, carried: CarriedState | undefined): void {
  run.clock.start();
  if (run.tenant) registerTenantAnswers(run);
  serveDetails(run);
  if (carried) {
    run.events.add({ type: 'continued', executionId: workflowInfo().runId });
    followCarried(run);
    return;
  }
  const { setup, model } = run.prepared;
  run.inbox.refuseOverflow();
  run.events.add({ type: 'run.started', agent: setup.agent, model, maxTurns: run.caps.maxTurns, ...parentOf(run) });
  if (run.prepared.priceUnknown) {
    const text = `the price of ${model} is unknown: maxCostUsd is not enforced`;
    run.events.add({ type: 'notice', text });
    showDecision(run, text);
  }
  for (const text of run.prepared.notices ?? []) run.events.add({ type: 'notice', text });
  loadTranscript(run);
  publishAttributes(run, {
    ...statusAttributes(run, 'running'),
    AgentName: setup.agent,
    AgentModel: model,
    ...(run.input.tenant === undefined ? {} : { AgentTenant: run.input.tenant }),
    ...(run.input.session === undefined ? {} : { AgentSession: run.input.session }),
  });
}

/** The run and the call that delegated this one. */
function parentOf({ input: { parent } }: Run): Pick<Extract<RunEventBody, { type: 'run.started' }>, 'parent'> {
  return parent === undefined ? {} : { parent: { runId: parent.runId, callId: parent.callId } };
}

/** Loads turns of earlier runs and the input's messages before the task. They may end in the middle of a call: this is repaired, with an event. */
function loadTranscript(run: Run): void {
  const { messages, repairs } = repairHistory([...(run.prepared.recalled ?? []), ...givenConversation(run.input.messages)]);
  if (repairs > 0) run.events.add({ type: 'recovered', turn: 0, what: 'pairing of calls and results', count: repairs });
  const task = taskMessage(run);
  if (run.input.inherits) run.transcript.inherit(run.input.inherits);
  // the input's messages may end with the task already: it is not repeated
  run.transcript.load(appendOnce(messages, task).slice(0, -1));
  run.transcript.append(task);
}

function taskMessage(run: Run): Message {
  const { task } = run.input;
  return { id: run.taskId, role: 'user', parts: typeof task === 'string' ? [{ type: 'text', text: task }] : task };
}

/** Builds the result and ends the run. Nothing is awaited after the inbox is read, so no accepted message is lost. */
function close(run: Run, given: Extract<Ending, { kind: 'end' }>, answer: FinalOutput): RunResult {
  run.clock.stop();
  // an accepted cancel is the reason of the end, also when the running call finished
  const ending: typeof given = run.inbox.cancelRequest && given.reason !== 'error' ? { kind: 'end', reason: 'cancelled' } : given;
  endHold(run, 'stopped');
  run.inbox.closeAll();
  const result = buildResult(run, ending, hasFinalCall(ending.reason) ? answer : { output: answer.output });
  run.result = result;
  run.phase = 'closed';
  run.steps.close(result.reason === 'cancelled' ? 'cancelled' : 'failed', Date.now());
  run.events.add(endEvent(result));
  publishAttributes(run, statusAttributes(run, result.reason));
  return end(result, run.inbox);
}

function endEvent({ reason, turns, error }: RunResult): RunEventBody {
  return { type: 'run.ended', reason, turns, ...(error ? { error } : {}) };
}

/** Reason `error` fails the workflow, and Temporal's own cancellation ends it as Cancelled. Any other reason completes it. */
function end(result: RunResult, { cancelRequest }: Inbox): RunResult {
  if (result.reason === 'error') throw runFailure(result);
  if (result.reason === 'cancelled' && cancelRequest?.source === 'temporal') throw new CancelledFailure('the run was cancelled');
  return result;
}

/**
 * Tells the sub-agents at work that the run continues as new. Those of an earlier history were told then: the server cancels them no more,
 * and one that waits for its cancellation would wait for ever. False when a stop came first: it is not carried over.
 */
async function tellSubagents(run: Run): Promise<boolean> {
  const { live, own } = run.subagents;
  await Promise.all((run.policy.tellsOwnSubagents ? own : live).map(tellContinued));
  await condition(allHandlersFinished);
  // the parent may have said meanwhile that it continues too: its cancellation is for this history
  await condition(() => !run.parentContinued.awaitsCancel || run.mustStop);
  return !run.mustStop;
}

function continueAsNew(run: Run): Promise<never> {
  run.clock.stop();
  compactToCarry(run, run.input.bounds?.carriedTranscriptBytes);
  const { memo, startTime } = workflowInfo();
  // lists show the age of the run, not of its newest history
  const next = makeContinueAsNewFunc<typeof agentRun>({ memo: { ...memo, startedAt: memo?.['startedAt'] ?? startTime.toISOString() } });
  // the carried state contains the transcript: the input's messages are not sent twice
  const { messages: _, ...input } = run.input;
  return next(input, run.carry());
}

/** Handles Temporal's own cancellation like signal `cancel`. */
function watchTemporalCancellation(context: HandlerContext): void {
  const { inbox, events } = context;
  const { cancelRequested } = CancellationScope.current();
  void cancelRequested.catch(() => {
    if (context.parentContinued.takeCancel()) return;
    inbox.requestCancel({ source: 'temporal', reason: 'Temporal cancellation' });
    events.add({ type: 'cancel.requested', reason: 'Temporal cancellation' });
  });
}
