import type { AnsweredQuestion, AnswerInput } from '../../contracts/schemas/question.js';
import { readAnswer } from '../policies/tools/read-answer.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';
import { describeQuestionEnd } from './settle-question.js';

/**
 * Validates an answer from any client, and returns it as it counts. Throws `Input.Invalid` with a message that begins with `BAD_ANSWER`,
 * `NO_SUCH_QUESTION`, `RUN_CLOSED` or `RUN_ENDING`, or names the earlier answer. A refused answer leaves the question pending.
 */
export function checkAnswer(run: Run, { callId, answer }: Pick<AnswerInput, 'callId' | 'answer'>): string {
  checkQuestion(run, callId);
  const question = run.questions.pending(callId);
  const read = question ? readAnswer(question, answer) : { problem: 'the question has ended' };
  if ('problem' in read) throw inputFailure(`BAD_ANSWER: ${read.problem}`);
  return read.answer;
}

/** Validates that a question can be answered or declined. Throws as `checkAnswer` does. */
export function checkQuestion(run: Run, callId: string): void {
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  const earlier = earlierEnd(run, callId);
  if (earlier) throw inputFailure(`already answered: ${describeQuestionEnd(earlier)} at ${earlier.at}`);
  if (!run.questions.pending(callId)) {
    throw inputFailure(
      `NO_SUCH_QUESTION: no question ${JSON.stringify(callId.slice(0, 80))} is pending. Query 'approvals' lists the pending ones.`,
    );
  }
  if (run.mustStop) throw inputFailure('RUN_ENDING: the run is stopping and waits for no answer');
}

/** The earlier end of a question. An expired one counts as ended, also before the loop has ended it. */
function earlierEnd({ questions }: Run, callId: string): Pick<AnsweredQuestion, 'outcome' | 'by' | 'at'> | undefined {
  const pending = questions.pending(callId);
  if (!pending) return questions.answered(callId);
  return Date.parse(pending.expires) > Date.now() ? undefined : { outcome: 'expired', by: '', at: pending.expires };
}
