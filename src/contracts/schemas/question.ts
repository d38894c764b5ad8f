import { z } from 'zod';

/** A question that a person has not answered yet. */
export const PendingQuestion = z.strictObject({
  /** Id of the question: that of the call of `ask_user`. */
  callId: z.string(),
  /** Text of the question. */
  question: z.string(),
  /** Answers to choose from. Their numbers, from 1, are answers too. */
  choices: z.array(z.string()).optional(),
  /** True if other answers than the choices are accepted. */
  other: z.boolean().optional(),
  /** Source of the question: `agent`. */
  askedBy: z.string(),
  /** Turn of the call. */
  turn: z.number().int(),
  /** Start of the wait, ISO 8601. */
  since: z.string(),
  /** End of the wait, ISO 8601. The call fails then. */
  expires: z.string(),
});
export type PendingQuestion = z.infer<typeof PendingQuestion>;

/** The end of a question. It is kept, so that a second answer returns the first one. */
export const AnsweredQuestion = z.strictObject({
  /** Id of the question. */
  callId: z.string(),
  /** `answered` and `declined` are decisions of a person, `expired` a timeout, `cancelled` the end of the call. */
  outcome: z.enum(['answered', 'declined', 'expired', 'cancelled']),
  /** The answer. A chosen number is replaced by its choice. */
  answer: z.string().optional(),
  /** Name of the person or system that ended it. */
  by: z.string(),
  /** Start of the wait, ISO 8601. */
  since: z.string(),
  /** Time of the end, ISO 8601. */
  at: z.string(),
  /** Reason that was given. */
  reason: z.string().optional(),
});
export type AnsweredQuestion = z.infer<typeof AnsweredQuestion>;

/** Argument of update `answer`. */
export interface AnswerInput {
  /** Id of the question. */
  readonly callId: string;
  /** The answer, one of the choices, or its number. */
  readonly answer: string;
  /** Your name, as other operators see it. */
  readonly by?: string;
}
