import type { CallModelResult } from '../contracts/activities.js';
import { type Message, type ToolCallPart, textOf } from '../contracts/message.js';
import type { Reason, RunResult } from '../contracts/run.js';
import { askModel } from './ask-model.js';
import { truncatedCallResults } from './call-results.js';
import { mayGoOn } from './may-go-on.js';
import { finaliseWarning, shouldWarn } from './policies/finalise-warning.js';
import { judgeAnswer, type Verdict } from './policies/judge-answer.js';
import { publishStatus } from './progress.js';
import type { Run } from './run.js';
import { runToolCalls } from './run-tool-calls.js';

/** How a loop ends: with a reason, or by going on in a fresh history. */
export type Ending =
  | { readonly kind: 'end'; readonly reason: Reason; readonly emptyAnswer?: boolean; readonly error?: NonNullable<RunResult['error']> }
  | { readonly kind: 'continue-as-new' };

const CONTINUE_AS_NEW: Ending = { kind: 'continue-as-new' };

/** THE LOOP: turns until something ends the run. It owns all branching; what it asks are pure functions in policies/. */
export async function runTurns(run: Run): Promise<Ending> {
  for (;;) {
    if (run.turnInProgress) {
      if ((await finishOpenBatch(run)) === 'continue-as-new') return CONTINUE_AS_NEW;
      endTurn(run);
    }
    if ((await mayGoOn(run)) === 'continue-as-new') return CONTINUE_AS_NEW;
    const stop = run.stopReason();
    if (stop) return { kind: 'end', reason: stop };
    if (run.turnsHere > 0 && run.historyIsLong()) return CONTINUE_AS_NEW;
    takeSteers(run, run.counters.turn + 1);
    // what was just taken may be more than the budget can send
    if (run.outputTokensAllowed() === 'spent') return { kind: 'end', reason: 'budget' };
    const ending = await runTurn(run);
    if (ending?.kind === 'continue-as-new') return ending;
    endTurn(run);
    if (ending) return ending;
  }
}

/** One model answer and its tool calls. Returns how the run ends, or nothing when another turn follows. */
async function runTurn(run: Run): Promise<Ending | undefined> {
  openTurn(run);
  const requestOnly = takeWarning(run);
  const reply = await askModel(run, { requestOnly, toolChoice: 'auto' });
  switch (reply.kind) {
    case 'answer':
      return follow(run, judge(run, reply));
    case 'interrupted':
      return undefined;
    case 'failed':
      return { kind: 'end', reason: 'error', error: { type: reply.type, message: reply.message, turn: run.counters.turn } };
    case 'continue-as-new':
      return reopenTurn(run, requestOnly.length > 0);
  }
}

async function follow(run: Run, verdict: Verdict): Promise<Ending | undefined> {
  switch (verdict.kind) {
    case 'tools':
      run.turnInProgress = { calls: [...verdict.calls], results: verdict.calls.map(() => null), decisions: [] };
      return (await finishOpenBatch(run)) === 'continue-as-new' ? CONTINUE_AS_NEW : undefined;
    case 'truncated':
      answerCutCalls(run, verdict.calls);
      return undefined;
    case 'paused':
      return undefined;
    case 'empty':
      run.transcript.append(correction(run, 'Your last answer had no text. Answer the task, or say what keeps you from it.'));
      return undefined;
    case 'end':
      answerCutCalls(run, verdict.calls);
      // a cancel that was accepted before this answer stands, and a message that came with it is read
      if (run.inbox.cancelRequest || (run.inbox.length > 0 && run.stopReason() === undefined)) return undefined;
      return { kind: 'end', reason: verdict.reason, emptyAnswer: verdict.emptyAnswer };
  }
}

/** A cut call has its result too, so that the transcript stays one that providers take. */
function answerCutCalls(run: Run, calls: readonly ToolCallPart[]): void {
  for (const message of truncatedCallResults(calls, run.counters.turn)) run.transcript.append(message);
}

/** Runs what is left of the present batch of tool calls; every call has exactly one result before the next request. */
async function finishOpenBatch(run: Run): Promise<'done' | 'continue-as-new'> {
  if (!run.turnInProgress) return 'done';
  run.phase = 'tools';
  const outcome = await runToolCalls(run, run.turnInProgress);
  if (outcome === 'done') run.turnInProgress = undefined;
  return outcome;
}

function openTurn(run: Run): void {
  run.counters.turn += 1;
  run.turnsHere += 1;
  run.phase = 'model';
  run.tool = undefined;
  run.events.add({ type: 'turn.started', turn: run.counters.turn });
  publishStatus(run);
}

function endTurn(run: Run): void {
  run.events.add({ type: 'turn.ended', turn: run.counters.turn });
}

/** A turn whose request got no answer before a long pause is opened anew in the next history, with the warning it may have held. */
function reopenTurn(run: Run, heldWarning: boolean): Ending {
  run.counters.turn -= 1;
  if (heldWarning) run.warned = false;
  return CONTINUE_AS_NEW;
}

/** Moves waiting messages into the transcript, in the order acknowledged; `turn` is the one that reads them. */
export function takeSteers(run: Run, turn: number): void {
  for (const { id, text } of run.inbox.drain()) {
    run.transcript.append({ id, role: 'user', origin: 'steer', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'steer.delivered', id, turn });
  }
}

function takeWarning(run: Run): Message[] {
  const remaining = run.caps.maxTurns - run.counters.turn + 1;
  const facts = { warned: run.warned, remainingTurns: remaining, deadlineMs: run.clock.deadlineMs, leftMs: run.clock.leftMs };
  if (!shouldWarn(facts)) return [];
  run.warned = true;
  run.events.add({ type: 'finalise.warned', turn: run.counters.turn, remaining });
  return [finaliseWarning(remaining)];
}

/** Judges an answer and keeps the counters of consecutive recoveries: a good turn resets them. */
function judge(run: Run, answer: Extract<CallModelResult, { kind: 'answer' }>): Verdict {
  const { counters } = run;
  const verdict = judgeAnswer(answer.message, answer.stop, counters);
  run.events.add({
    type: 'model.completed',
    turn: counters.turn,
    model: run.prepared.model,
    stop: answer.stop,
    usage: answer.usage,
    text: textOf(answer.message).slice(0, 500),
  });
  counters.truncatedAnswers = verdict.kind === 'truncated' ? counters.truncatedAnswers + 1 : 0;
  counters.pausedAnswers = verdict.kind === 'paused' ? counters.pausedAnswers + 1 : 0;
  counters.emptyAnswers = verdict.kind === 'empty' ? counters.emptyAnswers + 1 : 0;
  const count = counters.truncatedAnswers + counters.pausedAnswers + counters.emptyAnswers;
  if (count > 0) run.events.add({ type: 'recovered', turn: counters.turn, what: verdict.kind, count });
  return verdict;
}

function correction(run: Run, text: string): Message {
  return {
    id: `${run.idPrefix}-c${run.counters.turn}`,
    role: 'user',
    origin: 'correction',
    turn: run.counters.turn,
    parts: [{ type: 'text', text }],
  };
}
