import type { AnsweredQuestion, PendingQuestion } from '../../contracts/schemas/question.js';
import type { ToolContext } from '../../define/define-tool.js';

/** A question that a call asks the person of its run. */
export interface CallQuestion extends Pick<PendingQuestion, 'question' | 'choices' | 'fields' | 'askedBy'> {
  /** Distinguishes the questions of a call. The same in each attempt, so that an answer is used again. */
  readonly id: string;
}

/** How it ended. */
export type QuestionAnswer = Pick<AnsweredQuestion, 'outcome' | 'answer' | 'reason'>;

/**
 * Asks the person of a run, and waits for days if it has to. The time limit of the call stands still meanwhile.
 *
 * Contract: rejects when the call or `signal` aborts; the question then ends.
 */
export type Ask = (question: CallQuestion, signal: AbortSignal) => Promise<QuestionAnswer>;

/** The context of a call that can ask. */
export interface AskingContext extends ToolContext {
  /** Absent in runs that take no questions of calls. */
  readonly ask?: Ask;
}
