import type { AnsweredQuestion, PendingQuestion } from '../../contracts/schemas/question.js';
import type { SamplingBounds, SamplingEnd, SamplingRequest } from '../../contracts/schemas/sampling.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { ToolContext } from '../../define/define-tool.js';

/** A question that a call asks the person of its run. */
export interface CallQuestion extends Pick<PendingQuestion, 'question' | 'choices' | 'fields' | 'askedBy'> {
  /** Distinguishes the questions of a call. The same in each attempt, so that an answer is used again. */
  readonly id: string;
}

/** How it ended. */
export type QuestionAnswer = Pick<AnsweredQuestion, 'outcome' | 'answer' | 'reason'>;

/** Who waits for the answer. */
export interface Asker {
  /** Aborts when the server withdraws its request, or is lost. */
  readonly signal: AbortSignal;
  /** True once the server is lost. It withdrew nothing: the call may be made again, with the same request. */
  isLost(): boolean;
}

/**
 * Asks the person of a run, and waits for days if it has to. The time limit of the call stands still meanwhile.
 *
 * Contract: rejects when the call or the signal aborts. The question then ends; after the loss of the server, it ends with the call.
 */
export type Ask = (question: CallQuestion, asker: Asker) => Promise<QuestionAnswer>;

/**
 * Requests a completion of the run's model. `id` distinguishes the requests of a call, and is the same in each attempt. The time limit of the
 * call stands still meanwhile.
 *
 * Contract: rejects when the call or the signal aborts. The request then ends; after the loss of the server, it ends with the call.
 */
export type RequestCompletion = (request: SamplingRequest, asker: Asker) => Promise<SamplingEnd>;

/** Completions for a call. */
export interface CallSampling {
  readonly bounds: SamplingBounds;
  readonly request: RequestCompletion;
}

/** The context of a call that can ask. */
export interface AskingContext extends ToolContext {
  /** Absent in runs that take no questions of calls. */
  readonly ask?: Ask;
  /** Absent in runs that answer no requests for completions. */
  readonly sampling?: CallSampling;
  /** The secrets of the worker, which no question and no request shows. @default none */
  readonly secrets?: SecretMask;
}
