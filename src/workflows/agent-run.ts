import { CancelledFailure } from '@temporalio/common';
import { allHandlersFinished, CancellationScope, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { RUN_LIMITS } from '../contracts/constants/limits.js';
import type { RunEventBody } from '../contracts/event.js';
import { givenConversation } from '../contracts/message-text.js';
import type { CarriedState, WrittenState } from '../contracts/schemas/carried-state.js';
import type { Message } from '../contracts/schemas/message.js';
import type { RunInput, RunResult } from '../contracts/schemas/run.js';
import type { RunDesk } from './handlers/handler-context.js';
import { registerHandlers } from './handlers/handlers.js';
import { endHold } from './operator/pause-and-hold.js';
import { publishAttributes, publishStatus, statusAttributes } from './operator/progress.js';
import { showDecision } from './operator/wait.js';
import { appendOnce, repairHistory } from './policies/transcript/repair-transcript.js';
import { runTurns } from './run-turn.js';
import { readCarriedState } from './state/carried-state.js';
import { EventLog } from './state/event-log.js';
import { Inbox } from './state/inbox.js';
import { Run } from './state/run.js';
import { buildResult, type Ending, unpreparedResult } from './state/run-result.js';
import { type ActivityProblem, readActivityProblem, runFailure } from './temporal/failures.js';
import { prepareRun } from './temporal/proxies.js';
import { compactToCarry } from './turn/compact-transcript.js';
import { hasFinalCall, type LastWord, lastWord } from './turn/final-answer.js';
import { beforeRun } from './turn/run-hooks.js';

/**
 * One run of one agent: the durable loop. Completes with a RunResult whose `reason` says why it ended; fails only for reason
 * `error`, with the whole result in the failure's details. `state` is what an earlier execution of the same run carried over.
 */
export async function agentRun(input: RunInput, state?: WrittenState): Promise<RunResult> {
  const carried = state === undefined ? undefined : readCarriedState(state);
  const events = carried ? EventLog.from(carried.events) : new EventLog();
  const desk: RunDesk = { input, inbox: new Inbox(carried), events, run: undefined, refused: undefined };
  // a decision may come with the first task of this history: what it decides about is there
  if (carried) desk.run = new Run({ ...desk, prepared: carried.prepared, carried });
  registerHandlers(desk);
  watchTemporalCancellation(desk);
  // activities are cancelled through the run's own scopes, so that cleaning up can still call
  return CancellationScope.nonCancellable(() => runToEnd(desk, carried));
}

async function runToEnd(desk: RunDesk, carried: CarriedState | undefined): Promise<RunResult> {
  const preparation = desk.run ? ({ kind: 'prepared', run: desk.run } as const) : await prepare(desk);
  if (preparation.kind === 'refused') return refuse(desk, preparation.problem);
  const { run } = preparation;
  desk.run = run;
  open(run, carried);
  // one watcher for the whole run, not one per call: conditions are looked at in every activation
  void condition(() => run.inbox.cancelRequest !== undefined).then(() => run.calls.abort());
  const refusal = carried ? undefined : await beforeRun(run);
  for (;;) {
    const ending = refusal ?? (await runTurns(run));
    const answer = ending.kind === 'end' ? await lastWord(run, ending) : undefined;
    await condition(allHandlersFinished);
    // a stop is not carried over: the loop ends the run here
    if (ending.kind === 'end' && answer && !isOvertaken(run, ending)) return close(run, answer.ending ?? ending, answer);
    if (ending.kind === 'continue-as-new' && !run.mustStop) return continueAsNew(run);
    // the last word stopped it, and it was not the last
    if (ending.kind === 'end') run.clock.start();
  }
}

/** A run that could not begin has its beginning and its end in the events too. */
function refuse(desk: RunDesk, problem: ActivityProblem | undefined): RunResult {
  const { input, events, inbox } = desk;
  events.add({ type: 'run.started', agent: input.agent ?? 'default', model: input.model ?? '', maxTurns: input.maxTurns ?? 0 });
  inbox.closeAll();
  const result = unpreparedResult(inbox, problem);
  events.add(endEvent(result));
  desk.refused = result;
  return end(result, inbox);
}

/** True when a message came after the model's last word and a turn is left to read it. A chat has only one. */
function isOvertaken(run: Run, { reason }: Extract<Ending, { kind: 'end' }>): boolean {
  return reason === 'completed' && run.input.mode !== 'chat' && run.inbox.hasUnread && run.stopReason() === undefined;
}

/** What a run begins with: its setup; or nothing, because of a problem, or of a cancel that came first. */
type Preparation =
  | { readonly kind: 'prepared'; readonly run: Run }
  | { readonly kind: 'refused'; readonly problem: ActivityProblem | undefined };

async function prepare(desk: RunDesk): Promise<Preparation> {
  const scope = new CancellationScope();
  void condition(() => desk.inbox.cancelRequest !== undefined).then(() => scope.cancel());
  for (let losses = 0; ; losses += 1) {
    try {
      const prepared = await scope.run(() => prepareRun({ runId: workflowInfo().workflowId, input: desk.input }));
      return { kind: 'prepared', run: new Run({ ...desk, prepared }) };
    } catch (error) {
      const problem = readActivityProblem(error);
      const isStopped = desk.inbox.cancelRequest !== undefined;
      if (problem.workerLost && !isStopped && losses < RUN_LIMITS.workerLossesMax) continue;
      return { kind: 'refused', problem: isStopped ? undefined : problem };
    }
  }
}

function open(run: Run, carried: CarriedState | undefined): void {
  run.clock.start();
  if (carried) {
    run.events.add({ type: 'continued', executionId: workflowInfo().runId });
    publishStatus(run);
    return;
  }
  const { setup, model } = run.prepared;
  run.events.add({ type: 'run.started', agent: setup.agent, model, maxTurns: run.caps.maxTurns });
  if (run.prepared.priceUnknown) {
    const text = `the price of ${model} is unknown: a money cap is not kept`;
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
  publishStatus(run);
}

/** The messages given come first. Who gave them may have stopped in the middle of a call: that is repaired and said. */
function loadTranscript(run: Run): void {
  const { messages, repairs } = repairHistory(givenConversation(run.input.messages));
  if (repairs > 0) run.events.add({ type: 'recovered', turn: 0, what: 'pairing of calls and results', count: repairs });
  const task = taskMessage(run);
  // the task may stand at the end of what was given already: it is not said twice
  run.transcript.load(appendOnce(messages, task).slice(0, -1));
  run.transcript.append(task);
}

function taskMessage(run: Run): Message {
  const { task } = run.input;
  return { id: run.taskId, role: 'user', parts: typeof task === 'string' ? [{ type: 'text', text: task }] : task };
}

/** Builds the result and ends: nothing is awaited after this look at the inbox. */
function close(run: Run, given: Extract<Ending, { kind: 'end' }>, answer: LastWord): RunResult {
  run.clock.stop();
  // a cancel that was accepted is what ended the run, also when the call it came into finished all the same
  const ending: typeof given = run.inbox.cancelRequest && given.reason !== 'error' ? { kind: 'end', reason: 'cancelled' } : given;
  endHold(run, 'stopped');
  run.inbox.closeAll();
  const result = buildResult(run, ending, hasFinalCall(ending.reason) ? answer : { output: answer.output });
  run.result = result;
  run.phase = 'closed';
  run.steps.close(result.reason === 'cancelled' ? 'cancelled' : 'failed', Date.now());
  run.events.add(endEvent(result));
  publishAttributes(run, statusAttributes(run, result.reason));
  publishStatus(run);
  return end(result, run.inbox);
}

function endEvent({ reason, turns, error }: RunResult): RunEventBody {
  return { type: 'run.ended', reason, turns, ...(error ? { error } : {}) };
}

/** An error fails the workflow, Temporal's own cancellation ends it as Cancelled; all else completes it. */
function end(result: RunResult, { cancelRequest }: Inbox): RunResult {
  if (result.reason === 'error') throw runFailure(result);
  if (result.reason === 'cancelled' && cancelRequest?.source === 'temporal') throw new CancelledFailure('the run was cancelled');
  return result;
}

function continueAsNew(run: Run): Promise<never> {
  run.clock.stop();
  compactToCarry(run, run.input.bounds?.carriedTranscriptBytes);
  const next = makeContinueAsNewFunc<typeof agentRun>();
  // the transcript is in the carried state; given messages need not travel twice
  const { messages: _, ...input } = run.input;
  return next(input, run.carry());
}

/** Temporal's own cancellation cleans up like a cancel signal, and ends as Cancelled. */
function watchTemporalCancellation({ inbox, events }: RunDesk): void {
  const { cancelRequested } = CancellationScope.current();
  void cancelRequested.catch(() => {
    inbox.requestCancel({ source: 'temporal', reason: 'Temporal cancellation' });
    events.add({ type: 'cancel.requested', reason: 'Temporal cancellation' });
  });
}
