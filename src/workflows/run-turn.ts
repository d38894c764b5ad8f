import { textOf } from '../contracts/message-text.js';
import type { Message, ToolCallPart } from '../contracts/schemas/message.js';
import type { ToolChoice } from '../contracts/schemas/model.js';
import { mustWaitBeforeTurn, waitBeforeTurn } from './operator/pause-and-hold.js';
import { reportTurns } from './operator/progress.js';
import { mustAskTenant, waitForTenant } from './operator/wait-for-tenant.js';
import { judgeAnswer, type Verdict } from './policies/answer/judge-answer.js';
import { finaliseWarning, shouldWarn } from './policies/stop/finalise-warning.js';
import type { Run } from './state/run.js';
import type { Ending } from './state/run-result.js';
import { answersTooEarly, awaitSubagent, mustAwaitSubagent } from './tools/background-subagents.js';
import { guardToolCalls, newTurn, recordTurnWork } from './tools/guard-tool-calls.js';
import { takeOver } from './tools/handoff.js';
import { notRunResults, truncatedCallResults } from './tools/tool-results.js';
import { acceptEnd, structuredOf } from './turn/accept-answer.js';
import { compactWhenNeeded } from './turn/compact-transcript.js';
import { correct } from './turn/corrections.js';
import { applyDirectives, takeSteers, takeSubagentResults } from './turn/deliver-messages.js';
import { handleStop } from './turn/extend-caps.js';
import { type ModelAnswered, requestAnswer } from './turn/request-answer.js';
import { takeChangedTools } from './turn/take-tools.js';

const CONTINUE_AS_NEW: Ending = { kind: 'continue-as-new' };

/** The loop: takes turns until something ends the run. It owns all branching; the decisions are pure functions in policies/. */
export async function runTurns(run: Run): Promise<Ending> {
  for (;;) {
    if (run.turnInProgress) {
      const ending = await guardToolCalls(run, run.turnInProgress);
      if (ending?.kind === 'continue-as-new') return ending;
      endTurn(run, ending);
      if (ending) return ending;
    }
    takeOver(run);
    await takeChangedTools(run);
    if (mustWaitBeforeTurn(run) && (await waitBeforeTurn(run)) === 'continue-as-new') return CONTINUE_AS_NEW;
    if (mustAskTenant(run)) {
      if ((await waitForTenant(run)) === 'continue-as-new') return CONTINUE_AS_NEW;
      // a pause or a message may have arrived meanwhile
      continue;
    }
    if (mustAwaitSubagent(run)) {
      if ((await awaitSubagent(run)) === 'continue-as-new') return CONTINUE_AS_NEW;
      continue;
    }
    const stop = run.stopReason();
    if (stop) {
      const next = await handleStop(run, stop);
      if (next === 'go') continue;
      return next === 'end' ? endingOfStop(run, stop) : CONTINUE_AS_NEW;
    }
    if (run.turnsHere > 0 && run.historyIsLong()) return CONTINUE_AS_NEW;
    if (run.inbox.directed.length > 0) await applyDirectives(run, run.counters.turn + 1);
    const compaction = compactWhenNeeded(run);
    if (compaction) await compaction;
    // a stop or a command may have arrived meanwhile: both are handled before messages are delivered
    if (run.stopReason() || run.inbox.directed.length > 0) continue;
    takeSubagentResults(run, run.counters.turn + 1);
    takeSteers(run, run.counters.turn + 1);
    // the delivered messages may exceed the budget of the next request
    if (run.stopReason()) continue;
    const ending = await runTurn(run);
    if (ending?.kind === 'continue-as-new') return ending;
    endTurn(run, ending);
    if (ending) return ending;
  }
}

/** A limit ends the run with its reason, or with `error` where the agent sets `onMaxTurns: "error"`. */
function endingOfStop(run: Run, stop: NonNullable<ReturnType<Run['stopReason']>>): Ending {
  const { turn } = run.counters;
  if (stop !== 'max_turns' || run.policy.onMaxTurns === 'result') return { kind: 'end', reason: stop };
  const message = `exceeded maximum turns (${run.caps.maxTurns})`;
  return { kind: 'end', reason: 'error', error: { type: 'Run.MaxTurns', message, turn } };
}

/** One model answer and its tool calls. Returns how the run ends, or nothing when another turn follows. */
async function runTurn(run: Run): Promise<Ending | undefined> {
  openTurn(run);
  const requestOnly = takeWarning(run);
  const reply = await requestAnswer(run, { requestOnly, toolChoice: toolChoice(run) });
  switch (reply.kind) {
    case 'answer':
      return await follow(run, reply.message, judge(run, reply));
    case 'interrupted':
      if (run.inbox.interrupting && !run.mustStop) run.events.add({ type: 'model.interrupted', turn: run.counters.turn, by: 'a message' });
      return undefined;
    case 'failed':
      return { kind: 'end', reason: 'error', error: { type: reply.type, message: reply.message, turn: run.counters.turn } };
    case 'continue-as-new':
      return reopenTurn(run, requestOnly.length > 0);
  }
}

/** Not async: most turns only pass on what their tool calls return. */
function follow(run: Run, message: Message, verdict: Verdict): Promise<Ending | undefined> | undefined {
  if (run.input.mode === 'chat') return endChat(run, message, verdict);
  switch (verdict.kind) {
    case 'tools':
      return guardToolCalls(run, newTurn(verdict.calls));
    case 'truncated':
      answerCutCalls(run, verdict.calls);
      return undefined;
    case 'paused':
      return undefined;
    case 'empty':
      if (run.policy.thinkingOffWhenEmpty) run.route.thinkingOff = true;
      correct(run, { why: 'empty answer', text: EMPTY_ANSWER, attempt: run.counters.emptyAnswers });
      return undefined;
    case 'end':
      answerCutCalls(run, verdict.calls);
      return endWith(run, message, verdict);
  }
}

const EMPTY_ANSWER = 'Your last answer had no text. Answer the task, or explain why you cannot.';

/** The answer ends the run, unless the completion gate rejects it, or a cancel or a message arrived meanwhile. */
async function endWith(
  run: Run,
  message: Message,
  { reason, emptyAnswer }: Extract<Verdict, { kind: 'end' }>,
): Promise<Ending | undefined> {
  if (reason === 'completed' && answersTooEarly(run)) {
    run.subagents.answered = true;
    return undefined;
  }
  const verdict = reason === 'completed' && !emptyAnswer ? await acceptEnd(run, message) : ({ kind: 'accepted' } as const);
  // an accepted cancel takes precedence, and an unread message gets another turn
  if (run.inbox.cancelRequest || (run.inbox.hasUnread && run.stopReason() === undefined)) return undefined;
  switch (verdict.kind) {
    case 'corrected':
      return undefined;
    case 'failed':
      // a stop that aborted the validation is no failure: the loop ends the run
      if (run.mustStop) return undefined;
      return { kind: 'end', reason: 'error', error: { type: verdict.type, message: verdict.message, turn: run.counters.turn } };
    case 'accepted':
      return { kind: 'end', reason, emptyAnswer, ...('structured' in verdict ? { structured: verdict.structured } : {}) };
  }
}

/** A chat has exactly one turn. Tool calls in its answer are not run, and the answer is not corrected. */
async function endChat(run: Run, message: Message, verdict: Verdict): Promise<Ending> {
  const calls = 'calls' in verdict ? verdict.calls : [];
  for (const result of notRunResults(calls, run.counters.turn, CHAT_ONE_TURN)) run.transcript.append(result);
  if (verdict.kind !== 'end') {
    return { kind: 'end', reason: verdict.kind === 'truncated' ? 'max_tokens' : 'completed', emptyAnswer: verdict.kind === 'empty' };
  }
  const { reason, emptyAnswer } = verdict;
  const structured = reason === 'completed' && !emptyAnswer ? await structuredOf(run, message) : undefined;
  return { kind: 'end', reason, emptyAnswer, ...(structured === undefined ? {} : { structured }) };
}

const CHAT_ONE_TURN = 'not run: a chat answers in one turn, without tools';

/** Adds a failed result for each truncated call: providers reject a call without a result. */
function answerCutCalls(run: Run, calls: readonly ToolCallPart[]): void {
  const results = truncatedCallResults(calls, run.counters.turn);
  for (const message of results) run.transcript.append(message);
  recordTurnWork(run, calls, results);
}

function toolChoice({ input, policy, counters }: Run): ToolChoice {
  if (input.mode === 'chat') return 'none';
  return counters.turn === 1 ? policy.firstToolChoice : 'auto';
}

function openTurn(run: Run): void {
  run.counters.turn += 1;
  run.turnsHere += 1;
  run.subagents.answered = false;
  run.phase = 'model';
  run.tool = undefined;
  const { turn } = run.counters;
  run.events.add({ type: 'turn.started', turn });
  run.steps.open({ agent: run.prepared.setup.agent, index: turn - 1, started: Date.now(), group: run.runId });
  reportTurns(run);
}

function endTurn(run: Run, ending: Ending | undefined): void {
  run.events.add({ type: 'turn.ended', turn: run.counters.turn });
  run.steps.close(stepStatus(run, ending), Date.now());
}

function stepStatus(run: Run, ending: Ending | undefined): 'success' | 'failed' | 'timeout' | 'cancelled' {
  if (run.inbox.cancelRequest) return 'cancelled';
  const failure = ending?.kind === 'end' ? ending.error?.type : undefined;
  if (failure === 'Model.Timeout' || run.deadlineReached) return 'timeout';
  return failure === undefined ? 'success' : 'failed';
}

/** Repeats a turn without an answer in the next history, with the finalise warning that its request may have contained. */
function reopenTurn(run: Run, heldWarning: boolean): Ending {
  run.counters.turn -= 1;
  if (heldWarning) run.warned = false;
  return CONTINUE_AS_NEW;
}

function takeWarning(run: Run): Message[] {
  const { policy, counters, clock } = run;
  const cap = policy.autoExtend ? Math.max(policy.autoExtend.hardCap, run.caps.maxTurns) : run.caps.maxTurns;
  const remaining = cap - counters.turn + 1;
  const facts = {
    warned: run.warned || run.input.mode === 'chat',
    remainingTurns: remaining,
    atRemainingTurns: policy.finaliseAtRemainingTurns,
    deadlineMs: clock.deadlineMs,
    leftMs: clock.leftMs,
  };
  if (!shouldWarn(facts)) return [];
  run.warned = true;
  run.events.add({ type: 'finalise.warned', turn: counters.turn, remaining });
  return [finaliseWarning(remaining, policy.finaliseMessage)];
}

/** Judges an answer and updates the counters of consecutive recoveries: a good turn resets them. */
function judge(run: Run, answer: ModelAnswered): Verdict {
  const { counters } = run;
  const verdict = judgeAnswer(answer.message, answer.stop, counters);
  run.steps.update({ usage: answer.usage });
  run.events.add({
    type: 'model.completed',
    turn: counters.turn,
    model: answer.model,
    stop: answer.stop,
    usage: answer.usage,
    ...(answer.usageEstimated ? { usageEstimated: true } : {}),
    ...(answer.costUsd === undefined ? {} : { costUsd: answer.costUsd }),
    ...(answer.requestId === undefined ? {} : { requestId: answer.requestId }),
    text: textOf(answer.message).slice(0, 500),
  });
  counters.truncatedAnswers = verdict.kind === 'truncated' ? counters.truncatedAnswers + 1 : 0;
  counters.pausedAnswers = verdict.kind === 'paused' ? counters.pausedAnswers + 1 : 0;
  counters.emptyAnswers = verdict.kind === 'empty' ? counters.emptyAnswers + 1 : 0;
  if (verdict.kind === 'tools') counters.gateAttempts = counters.schemaAttempts = counters.qualityCorrections = 0;
  if (answer.repaired) run.events.add({ type: 'recovered', turn: counters.turn, what: 'arguments of calls', count: answer.repaired });
  const count = counters.truncatedAnswers + counters.pausedAnswers + counters.emptyAnswers;
  if (count > 0) run.events.add({ type: 'recovered', turn: counters.turn, what: verdict.kind, count });
  return verdict;
}
