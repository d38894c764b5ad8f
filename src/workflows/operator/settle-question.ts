import { QUESTION_LIMITS } from '../../contracts/constants/limits.js';
import type { AnsweredQuestion, PendingQuestion } from '../../contracts/schemas/question.js';
import type { Run } from '../state/run.js';
import { showDecision } from './wait.js';

/** How a question ends: by a person, a timeout, or its call. */
export type QuestionEnd = Pick<AnsweredQuestion, 'outcome' | 'by'> & { readonly answer?: string; readonly reason?: string };

/** Opens a question and records an event. Signal handlers call it too: no command, no await. */
export function openQuestion(run: Run, question: PendingQuestion): void {
  run.questions.add(question);
  const { turn, callId, choices, askedBy: by, expires } = question;
  run.events.add({
    type: 'question.asked',
    turn,
    callId,
    question: question.question.slice(0, QUESTION_LIMITS.eventCharsMax).toWellFormed(),
    ...(choices === undefined ? {} : { choices: [...choices] }),
    by,
    expires,
  });
}

/**
 * Ends a pending question and records an event. Returns undefined when none is pending: the first end counts. Update handlers call it too:
 * no command, no await.
 */
export function endQuestion(run: Run, callId: string, end: QuestionEnd): AnsweredQuestion | undefined {
  const pending = run.questions.pending(callId);
  if (!pending) return undefined;
  const ended: AnsweredQuestion = { callId, since: pending.since, at: new Date().toISOString(), ...end };
  run.questions.end(ended);
  const { outcome, by, answer, reason } = end;
  run.events.add({
    type: 'question.answered',
    callId,
    outcome,
    by,
    ...(answer === undefined ? {} : { answer: answer.slice(0, QUESTION_LIMITS.eventCharsMax).toWellFormed() }),
    ...(reason === undefined ? {} : { reason }),
  });
  showDecision(run, `${questionLine(pending)}: ${describeQuestionEnd(end)}`);
  return ended;
}

/** Ends the questions that have expired. */
export function expireQuestions(run: Run): void {
  for (const { callId } of run.questions.due(Date.now())) endQuestion(run, callId, { outcome: 'expired', by: 'nobody' });
}

/** How a question ended, for a person: `answered by U`, `declined by U`, `not answered in time`. */
export function describeQuestionEnd({ outcome, by }: Pick<AnsweredQuestion, 'outcome' | 'by'>): string {
  return outcome === 'expired' ? 'not answered in time' : `${outcome} by ${by}`;
}

/** The beginning of a question in one line. */
export function questionLine({ question }: Pick<PendingQuestion, 'question'>): string {
  const line = question.replaceAll(/[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const characters = Array.from(line.slice(0, 2 * QUESTION_LINE_CHARS));
  return characters.length <= QUESTION_LINE_CHARS ? line : `${characters.slice(0, QUESTION_LINE_CHARS).join('').toWellFormed()}…`;
}

const QUESTION_LINE_CHARS = 100;
