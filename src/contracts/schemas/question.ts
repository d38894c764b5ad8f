import { z } from 'zod';

/** A value that a question of an MCP server asks for. */
export const QuestionField = z.strictObject({
  /** Name, for a line `NAME=VALUE` of the answer. */
  name: z.string(),
  /** Kind of the value. `choices` is several of the choices, with commas. */
  kind: z.enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices']),
  /** False for a field that an answer may leave out. */
  required: z.boolean(),
  /** What to choose from. */
  choices: z.array(z.string()).optional(),
  /** Format of a text. */
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  /** Least characters, number, or choices. */
  min: z.number().optional(),
  /** Most characters, number, or choices. */
  max: z.number().optional(),
});
export type QuestionField = z.infer<typeof QuestionField>;

/** A question that a person has not answered yet. */
export const PendingQuestion = z.strictObject({
  /** Id of the question: that of the call of `ask_user`, or `CALL.HASH` for a question of an MCP server. */
  callId: z.string(),
  /** Text of the question. */
  question: z.string(),
  /** Answers to choose from. Their numbers, from 1, are answers too. */
  choices: z.array(z.string()).optional(),
  /** True if other answers than the choices are accepted. */
  other: z.boolean().optional(),
  /** What an answer must have. For several fields, it has a line `NAME=VALUE` for each, or is a JSON object. */
  fields: z.array(QuestionField).optional(),
  /** The call whose MCP server asks. Absent for `ask_user`. */
  call: z.string().optional(),
  /** Source of the question: `agent`, or `MCP server NAME`. */
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

/** A question as a running call asks it. */
export type CallQuestionInput = Pick<PendingQuestion, 'callId' | 'question' | 'choices' | 'fields' | 'askedBy'>;

/** Signal of a running call: a question for the person of its run, or one that it withdraws. */
export type AskSignal =
  | { readonly call: string; readonly question: CallQuestionInput }
  | { readonly call: string /** Id of the question. */; readonly withdrawn: string };

/** What a running call finds of its question. */
export interface QuestionState {
  readonly isPending: boolean;
  readonly ended?: AnsweredQuestion;
}
