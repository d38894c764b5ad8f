import { CLIENT_LIMITS, DECISION_LIMITS, QUESTION_LIMITS } from '../constants/limits.js';
import type { ApproveInput, DecidedApproval, DenyInput } from '../schemas/approval.js';
import type { AnsweredQuestion, AnswerInput } from '../schemas/question.js';
import type { ExtendInput, Progress, Receipt, SteerInput } from '../schemas/run.js';
import { amount, answer as answerText, type Fault } from './fields.js';
import { MESSAGE } from './signals.js';
import type { Verb } from './verb.js';

const submit: Verb<SteerInput, Receipt> = {
  ...MESSAGE,
  name: 'submit',
  kind: 'update',
  description: 'Like steer, with a receipt: {"text": "…", "id"?: "…"} gives {id, accepted, position, duplicate}.',
  resend: ({ id = '' }) => `send again with the same id ${id}`,
};

const extend: Verb<ExtendInput, Progress> = {
  name: 'extend',
  kind: 'update',
  description:
    'Increase limits of the running agent: {"turns"?: 10, "costUsd"?: 1, "tokens"?: 1000, "deadlineMs"?: 60000}. Each amount is added to the limit.',
  fields: { turns: amount('integer'), costUsd: amount('number'), tokens: amount('integer'), deadlineMs: amount('integer') },
  atLeastOne: true,
  resend: () => 'check its limits and send again',
  command: {
    summary: 'increase the limits of an open run',
    flags: {
      turns: { flag: '--turns <n>', kind: 'number', help: 'number of turns to add' },
      costUsd: { flag: '--max-cost <usd>', kind: 'number', help: 'USD to add to the cost limit' },
      tokens: { flag: '--max-tokens <n>', kind: 'number', help: 'number of tokens to add' },
      deadlineMs: { flag: '--deadline <duration>', kind: 'duration', help: 'time to add to the deadline, such as 90s or 10m' },
    },
    report: ({ runId, answer: progress }) => ({
      json: { progress },
      line: `${runId}: limits increased (turn limit: ${progress.maxTurns})`,
    }),
  },
};

const callId = answerText(CLIENT_LIMITS.idCharsMax, 'call');
const by = answerText(DECISION_LIMITS.byCharsMax);
const reason = answerText(DECISION_LIMITS.reasonCharsMax);

/** The run decides which decision counts, so one that may have arrived can be made again. */
const decideAgain = (): string => 'decide again';

const BY_FLAG = { flag: '--by <name>', help: 'name of the person who decides (default: your user name)', default: 'user' } as const;
const CALL_HELP = "call ID, from 'perdure approvals'";

const approve: Verb<ApproveInput, DecidedApproval> = {
  name: 'approve',
  kind: 'update',
  description: 'Approve a pending call: {"callId": "…", "by"?: "…"}. The current details and query approvals list the pending calls.',
  fields: { callId, by },
  code: 'BAD_ANSWER',
  required: { callId: needsCall('approve', '{"callId": "…", "by"?: "…"}') },
  resend: decideAgain,
  command: {
    summary: 'approve a pending tool call',
    arguments: { callId: CALL_HELP },
    flags: { by: BY_FLAG },
    report: ({ runId, input, answer: decided }) => ({
      json: decided,
      line: `${runId}: ${decided.tool} ${input.callId} approved by ${decided.by}`,
    }),
  },
};

const answer: Verb<AnswerInput, AnsweredQuestion> = {
  name: 'answer',
  kind: 'update',
  description:
    'Answer a pending question: {"callId": "…", "answer": "…", "by"?: "…"}. Of a question with choices, the answer is a choice or its ' +
    'number. The current details and query approvals list the pending questions.',
  fields: { callId, answer: answerText(QUESTION_LIMITS.answerCharsMax), by },
  code: 'BAD_ANSWER',
  required: {
    callId: needsCall('answer', '{"callId": "…", "answer": "…", "by"?: "…"}'),
    answer: needsCall('answer', '{"callId": "…", "answer": "…", "by"?: "…"}'),
  },
  resend: () => 'answer again',
  command: {
    summary: 'answer a question of an agent',
    arguments: { callId: "question ID, from 'perdure approvals'", answer: 'the answer, in quotes: text, or a choice or its number' },
    flags: { by: { flag: '--by <name>', help: 'name of the person who answers (default: your user name)', default: 'user' } },
    report: ({ runId, answer: ended }) => ({ json: ended, line: `${runId}: question ${ended.callId} answered by ${ended.by}` }),
  },
};

const deny: Verb<DenyInput, DecidedApproval> = {
  name: 'deny',
  kind: 'update',
  description:
    'Deny a pending call, or decline a question: {"callId": "…", "by"?: "…", "reason"?: "…"}. Deny "budget" to let a run with a spent ' +
    'budget give its final answer.',
  fields: { callId, by, reason },
  code: 'BAD_ANSWER',
  required: { callId: needsCall('deny', '{"callId": "…", "by"?: "…", "reason"?: "…"}') },
  resend: decideAgain,
  command: {
    summary: 'deny a pending call or decline a question, with a reason that the model sees',
    arguments: { callId: "call or question ID, from 'perdure approvals'" },
    flags: { by: BY_FLAG, reason: { flag: '--reason <text>', help: 'reason, sent to the model' } },
    report: ({ runId, input, answer: decided }) => ({
      json: decided,
      line: `${runId}: ${decided.tool} ${input.callId} denied by ${decided.by}`,
    }),
  },
};

/** The updates that act on a run, in the order of `--help`. */
export const UPDATES = { submit, extend, approve, answer, deny } as const;

function needsCall(verb: string, shape: string): Fault {
  return { code: 'BAD_ANSWER', message: `${verb} takes ${shape}` };
}
