import { z } from 'zod';
import { AnsweredQuestion, PendingQuestion } from '../../../contracts/schemas/question.js';
import { nameOf } from '../access/caller.js';
import { HttpError } from '../access/http-error.js';
import { defineRoute } from '../routing/route.js';

/** `GET /v1/runs/{id}/questions`: lists questions that wait for an answer. */
export const listQuestions = defineRoute({
  method: 'GET',
  path: '/v1/runs/{id}/questions',
  right: 'read',
  summary: 'list the questions of a run that wait for an answer',
  answers: [{ status: 200, meaning: 'the questions, oldest first', schema: z.array(PendingQuestion) }],
  async run({ gateway, caller, params: { id } }) {
    const run = await gateway.owners.runOf(caller, id);
    const { open } = await run.describe();
    return { status: 200, body: open ? ((await run.approvals()).questions ?? []) : [] };
  },
});

/** `POST /v1/runs/{id}/questions/{callId}`: answers or declines a question. */
export const answerQuestion = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/questions/{callId}',
  right: 'approve',
  summary: 'answer a question of a run, or decline it',
  body: z.strictObject({
    answer: z.string().optional().describe('The answer: a text, a choice or its number, or lines NAME=VALUE for fields'),
    decline: z.literal(true).optional().describe('Declines the question'),
    reason: z.string().optional().describe('Reason of declining, which the model sees'),
  }),
  answers: [
    {
      status: 200,
      meaning: 'the answer, or the decision to decline',
      schema: z.union([AnsweredQuestion, z.looseObject({ callId: z.string() })]),
    },
    { status: 409, meaning: '`ALREADY_ANSWERED`, or `RUN_CLOSED`' },
    { status: 422, meaning: '`BAD_ANSWER`: the question still waits' },
  ],
  async run({ gateway, caller, params: { id, callId }, body: { answer, decline, reason } }) {
    if ((answer === undefined) !== (decline === true)) throw new HttpError(422, 'BAD_OPTION', 'answer: send either answer or decline');
    const run = await gateway.owners.runOf(caller, id);
    const by = nameOf(caller);
    const ended =
      answer === undefined
        ? await run.deny(callId, { by, ...(reason === undefined ? {} : { reason }) })
        : await run.answer(callId, answer, { by });
    return { status: 200, body: ended };
  },
});
