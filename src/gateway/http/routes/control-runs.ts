import { z } from 'zod';
import { STEER_MODES } from '../../../contracts/constants/steer-modes.js';
import { nameOf } from '../access/caller.js';
import { defineRoute } from '../routing/route.js';

const ReceiptBody = z.object({ id: z.string(), accepted: z.boolean(), position: z.number(), duplicate: z.boolean() });
const RunIdBody = z.object({ runId: z.string() });

/** `POST /v1/runs/{id}/messages`: sends a message to a run. */
export const sendMessage = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/messages',
  right: 'steer',
  summary: 'send a message to a running agent; the model sees it before its next response',
  body: z.strictObject({
    id: z.string().optional().describe('Your id of the message. A second message with the same id has no effect'),
    text: z.string().describe('The message'),
    mode: z.enum(STEER_MODES).optional().describe('When it is delivered; default: boundary'),
    ttlMs: z.number().optional().describe('The message expires after this time, in milliseconds; default: never'),
  }),
  answers: [
    { status: 202, meaning: 'the receipt', schema: ReceiptBody },
    { status: 409, meaning: '`RUN_CLOSED`' },
    { status: 429, meaning: '`INBOX_FULL`' },
  ],
  async run({ gateway, caller, params: { id }, body: { text, ...options } }) {
    const run = await gateway.owners.runOf(caller, id);
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    return { status: 202, body: await run.submit({ text, ...given }) };
  },
});

/** `POST /v1/runs/{id}/cancel`: cancels a run. */
export const cancelRun = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/cancel',
  right: 'steer',
  summary: 'cancel a run and stop its running calls',
  body: z.strictObject({ reason: z.string().optional().describe('Reason for the cancellation') }),
  answers: [
    {
      status: 202,
      meaning: 'requested; `alreadyClosed` is the status of a closed run',
      schema: RunIdBody.extend({ alreadyClosed: z.string().optional() }),
    },
  ],
  async run({ gateway, caller, params: { id }, body: { reason } }) {
    const run = await gateway.owners.runOf(caller, id);
    const answer = await run.cancel({ reason: reason ?? `cancelled by ${nameOf(caller)}` });
    return { status: 202, body: { runId: id, ...answer } };
  },
});

/** `POST /v1/runs/{id}/pause`: pauses a run. */
export const pauseRun = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/pause',
  right: 'steer',
  summary: 'pause a run after its running calls',
  answers: [
    { status: 202, meaning: 'requested', schema: RunIdBody },
    { status: 409, meaning: '`RUN_CLOSED`' },
  ],
  async run({ gateway, caller, params: { id } }) {
    await (await gateway.owners.runOf(caller, id)).pause();
    return { status: 202, body: { runId: id } };
  },
});

/** `POST /v1/runs/{id}/resume`: continues a paused run. */
export const resumeRun = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/resume',
  right: 'steer',
  summary: 'continue a paused run',
  answers: [
    { status: 202, meaning: 'requested', schema: RunIdBody },
    { status: 409, meaning: '`RUN_CLOSED`' },
  ],
  async run({ gateway, caller, params: { id } }) {
    await (await gateway.owners.runOf(caller, id)).resume();
    return { status: 202, body: { runId: id } };
  },
});

/** `POST /v1/runs/{id}/extend`: increases limits of a run. */
export const extendRun = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/extend',
  right: 'steer',
  summary: 'increase the limits of an open run',
  body: z.strictObject({
    turns: z.number().optional().describe('Turns to add'),
    costUsd: z.number().optional().describe('USD to add to the cost limit'),
    tokens: z.number().optional().describe('Tokens to add'),
    deadlineMs: z.number().optional().describe('Working time to add, in milliseconds'),
  }),
  answers: [
    { status: 200, meaning: 'the progress, with the new limits', schema: z.looseObject({ status: z.string(), maxTurns: z.number() }) },
    { status: 409, meaning: '`RUN_CLOSED`' },
  ],
  async run({ gateway, caller, params: { id }, body }) {
    const run = await gateway.owners.runOf(caller, id);
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
    return { status: 200, body: await run.extend(given) };
  },
});
