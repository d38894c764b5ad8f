import { defineQuery, defineSignal, setHandler } from '@temporalio/workflow';
import { ELICITATION_LIMITS, QUESTION_LIMITS } from '../../contracts/constants/limits.js';
import type { CallQuestionInput, QuestionState } from '../../contracts/schemas/question.js';
import { ASK_SIGNAL, QUESTION_QUERY } from '../../contracts/text/ids.js';
import { openQuestion } from '../operator/settle-question.js';
import type { Run } from '../state/run.js';
import { endCallQuestion } from '../tools/call-requests/call-questions.js';
import type { HandlerContext } from './handler-context.js';

/**
 * Registers the signal with which a running call asks the person of its run, and the query with which it finds the answer. Any client can
 * send the signal: what no call at work may ask is dropped, and so is what is no question.
 */
export function registerCallQuestions(context: HandlerContext): void {
  const take = (given: unknown): void => {
    context.inbox.signals += 1;
    if (context.run) takeQuestion(context.run, given);
  };
  setHandler(defineSignal<[unknown]>(ASK_SIGNAL), take, { description: 'A question of a running call. Not for operators.' });
  setHandler(defineQuery<QuestionState, [unknown]>(QUESTION_QUERY), (given) => stateOf(context, given), {
    description: 'The state of a question, for the call that asked it. Not for operators.',
  });
}

function takeQuestion(run: Run, given: unknown): void {
  if (!isObject(given)) return;
  const { call, question, withdrawn } = given;
  if (typeof call !== 'string' || !run.questions.mayAsk(call)) return;
  if (typeof withdrawn === 'string') {
    if (run.questions.pending(withdrawn)?.call === call) endCallQuestion(run, withdrawn, 'the server withdrew it');
    return;
  }
  if (!isQuestion(question) || !question.callId.startsWith(`${call}.`)) return;
  const { callId } = question;
  // asked again by another attempt of the call
  if (run.questions.pending(callId) || run.questions.answered(callId)) return;
  const now = Date.now();
  openQuestion(run, {
    ...question,
    call,
    turn: run.counters.turn,
    since: new Date(now).toISOString(),
    expires: new Date(now + run.policy.askExpireMs).toISOString(),
  });
  const { pendingMax } = QUESTION_LIMITS;
  if (!run.questions.hasRoom(0)) endCallQuestion(run, callId, `${pendingMax} questions are waiting already`);
  else if (run.questions.pendingOf(call).length > ELICITATION_LIMITS.perCallMax) endCallQuestion(run, callId, 'the call asks too much');
}

function stateOf({ run }: HandlerContext, given: unknown): QuestionState {
  const callId = isObject(given) ? given['callId'] : undefined;
  if (!run || typeof callId !== 'string') return { isPending: false };
  const ended = run.questions.answered(callId);
  return { isPending: run.questions.pending(callId) !== undefined, ...(ended ? { ended } : {}) };
}

type Shape = Readonly<Record<string, unknown>>;

function isObject(given: unknown): given is Shape {
  return typeof given === 'object' && given !== null;
}

function isText(given: unknown, charsMax: number): given is string {
  return typeof given === 'string' && given !== '' && given.length <= charsMax;
}

function isQuestion(given: unknown): given is CallQuestionInput {
  if (!isObject(given)) return false;
  const { callId, question, choices, fields, askedBy, ...others } = given;
  const { questionCharsMax, idCharsMax, askerCharsMax } = { ...QUESTION_LIMITS, ...ELICITATION_LIMITS };
  return (
    Object.keys(others).length === 0 &&
    isText(callId, idCharsMax) &&
    isText(question, questionCharsMax) &&
    isText(askedBy, askerCharsMax) &&
    (choices === undefined || isChoices(choices)) &&
    (fields === undefined || (Array.isArray(fields) && fields.length <= ELICITATION_LIMITS.fieldsMax && fields.every(isField)))
  );
}

function isChoices(given: unknown): given is string[] {
  const { choicesMax, choiceCharsMax } = QUESTION_LIMITS;
  return Array.isArray(given) && given.length > 0 && given.length <= choicesMax && given.every((choice) => isText(choice, choiceCharsMax));
}

const KINDS: ReadonlySet<unknown> = new Set(['text', 'number', 'integer', 'boolean', 'choice', 'choices']);
const FORMATS: ReadonlySet<unknown> = new Set([undefined, 'email', 'uri', 'date', 'date-time']);

function isField(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { name, kind, required, choices, format, min, max, ...others } = given;
  return (
    Object.keys(others).length === 0 &&
    typeof name === 'string' &&
    ELICITATION_LIMITS.namePattern.test(name) &&
    KINDS.has(kind) &&
    typeof required === 'boolean' &&
    (choices === undefined || isChoices(choices)) &&
    FORMATS.has(format) &&
    [min, max].every((bound) => bound === undefined || typeof bound === 'number')
  );
}
