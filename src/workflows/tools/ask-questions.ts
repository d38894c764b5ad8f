import { QUESTION_LIMITS } from '../../contracts/constants/limits.js';
import type { JsonValue, ToolCallPart } from '../../contracts/schemas/message.js';
import type { AnsweredQuestion, PendingQuestion } from '../../contracts/schemas/question.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { writeDuration } from '../../contracts/text/duration.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { publishPending } from '../operator/request-approval.js';
import { endQuestion, openQuestion } from '../operator/settle-question.js';
import type { Run } from '../state/run.js';
import { answerCall, closeCall, openCall } from './run-tool-call.js';
import { type SettledCall, settledOwn } from './settled-call.js';
import type { ToolBatch } from './tool-batch.js';
import { failedResult, textResult } from './tool-results.js';

/** True for a call that a person answers. */
function isQuestion(run: Run, { name }: Pick<ToolCallPart, 'name'>): boolean {
  return run.descriptor(name)?.waits === 'question';
}

/**
 * Asks the questions among calls that may start, all at once and each once: one that is pending from an earlier history is not asked again.
 * A call that asks nothing gets a failed result. Returns the other calls.
 */
export function askQuestions(run: Run, batch: ToolBatch, indexes: readonly number[]): readonly number[] {
  const questions = indexes.filter((index) => isQuestion(run, batch.call(index)));
  if (questions.length === 0) return indexes;
  for (const index of run.mustStop ? [] : questions) ask(run, batch, index);
  publishPending(run);
  return indexes.filter((index) => !questions.includes(index));
}

function ask(run: Run, batch: ToolBatch, index: number): void {
  const call = batch.effective(index);
  const { callId } = call;
  if (run.questions.pending(callId) || run.questions.answered(callId)) return;
  const { pendingMax } = QUESTION_LIMITS;
  const read = run.questions.hasRoom(1) ? readQuestion(call.args) : { problem: `not asked: ${pendingMax} questions are waiting already` };
  if ('problem' in read) {
    batch.settle(index, answerCall(run, call, read.problem));
    return;
  }
  openCall(run, call);
  const now = Date.now();
  openQuestion(run, {
    callId,
    ...read,
    askedBy: 'agent',
    turn: run.counters.turn,
    since: new Date(now).toISOString(),
    expires: new Date(now + run.policy.askExpireMs).toISOString(),
  });
}

/** The questions of open calls that wait for an answer. */
export function waitingQuestions(run: Run, batch: ToolBatch): readonly PendingQuestion[] {
  return batch.open.flatMap((index) => run.questions.pending(batch.call(index).callId) ?? []);
}

/** Gives each call whose question has ended its result. */
export function settleAnswered(run: Run, batch: ToolBatch): void {
  for (const index of batch.open) {
    const ended = run.questions.answered(batch.call(index).callId);
    if (ended && isQuestion(run, batch.call(index))) batch.settle(index, resultOf(run, batch.call(index), ended));
  }
}

/** Cancels the pending questions of calls that no longer wait. */
export function endOpenQuestions(run: Run, batch: ToolBatch, reason: string): void {
  for (const { callId } of waitingQuestions(run, batch)) endQuestion(run, callId, { outcome: 'cancelled', by: 'the run', reason });
  settleAnswered(run, batch);
  run.questions.prune();
}

function resultOf(run: Run, call: ToolCallPart, { outcome, answer = '', by, since, at, reason }: AnsweredQuestion): SettledCall {
  const { turn } = run.counters;
  // not the time of this look: a pause or other calls may have come between
  const waitedMs = Date.parse(at) - Date.parse(since);
  const failed = (text: string): ReturnType<typeof settledOwn> =>
    settledOwn(failedResult(call, turn, text), outcome === 'cancelled' ? 'cancelled' : 'failed');
  const because = reason === undefined ? '' : `: ${reason}`;
  switch (outcome) {
    case 'answered':
      return closeCall(run, settledOwn(textResult(call, turn, answer), 'ok'), waitedMs);
    case 'declined':
      return closeCall(run, failed(`declined by ${by}${because}`), waitedMs);
    case 'expired':
      return closeCall(run, failed(`not answered: the question expired after ${writeDuration(run.policy.askExpireMs)}`), waitedMs);
    case 'cancelled':
      return closeCall(run, failed(`[cancelled] not answered${because}`), waitedMs);
  }
}

/** A question as the call asks it. */
type AskedQuestion = Pick<PendingQuestion, 'question' | 'choices' | 'other'>;

const FIELDS = ['question', 'choices', 'other'];

function readQuestion(args: JsonValue): AskedQuestion | { readonly problem: string } {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  const { question, choices, other = false, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { problem: `${unknown.slice(0, 80)}: unknown${didYouMean(unknown, FIELDS)}` };
  const text = typeof question === 'string' ? cleanText(question).trim() : '';
  const { questionCharsMax } = QUESTION_LIMITS;
  if (text === '') return { problem: 'question: a text is needed' };
  if (text.length > questionCharsMax) return { problem: `question: ${text.length} characters, at most ${questionCharsMax}` };
  if (typeof other !== 'boolean') return { problem: 'other: true or false' };
  if (choices === undefined) return { question: text };
  const read = readChoices(choices);
  return 'problem' in read ? read : { question: text, ...read, ...(other ? { other } : {}) };
}

function readChoices(choices: JsonValue): { readonly choices: string[] } | { readonly problem: string } {
  const { choicesMax, choiceCharsMax } = QUESTION_LIMITS;
  if (!Array.isArray(choices) || choices.length === 0) return { problem: 'choices: a list of texts is needed' };
  if (choices.length > choicesMax) return { problem: `choices: ${choices.length}, at most ${choicesMax}` };
  const texts = choices.map((choice) => (typeof choice === 'string' ? cleanText(choice).trim() : ''));
  if (texts.some((text) => text === '' || text.length > choiceCharsMax)) {
    return { problem: `choices: each is a text of 1–${choiceCharsMax} characters` };
  }
  return new Set(texts).size === texts.length ? { choices: texts } : { problem: 'choices: two of them are the same' };
}
