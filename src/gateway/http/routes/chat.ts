import { z } from 'zod';
import type { RunHandle } from '../../../client/run-handle.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { HTTP_LIMITS, SESSION_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { Caller } from '../access/caller.js';
import { nameOf } from '../access/caller.js';
import { HttpError } from '../access/http-error.js';
import { resumedRunOf, stateOf } from '../chat/chat-run.js';
import { answerStream, type StreamedAnswer, UI_FORMAT } from '../chat/chat-stream.js';
import { ChatBody, type PostedNews, readNews } from '../chat/posted-chat.js';
import { sendOnce } from '../chat/send-once.js';
import { storedChat } from '../chat/stored-chat.js';
import type { Gateway } from '../routing/gateway.js';
import { defineRoute } from '../routing/route.js';
import { sessionOf } from '../routing/session-of.js';

const UI_STREAM = { status: 200, meaning: 'the UI message stream of the AI SDK', contentType: 'text/event-stream' } as const;

/** `POST /v1/chat`: sends a message of a `useChat` page, or its decisions about calls, and streams the answer. */
export const postChat = defineRoute({
  method: 'POST',
  path: '/v1/chat',
  right: 'run',
  summary: 'send the new message of a `useChat` page, or its approvals (right `approve` too), and stream the answer',
  body: ChatBody,
  startsWork: true,
  answers: [
    UI_STREAM,
    {
      status: 409,
      meaning: '`ANSWERED`: no other answer to this message; `MESSAGE_DROPPED`: it was dropped; `NOT_PENDING`: no such approval',
    },
    { status: 429, meaning: '`QUEUE_FULL`: the message was not accepted' },
  ],
  async run({ gateway, caller, body }) {
    const news = readNews(body);
    const session = sessionOf(gateway.door.client, caller, body.id, body.agent);
    const decided = news.decisions.length > 0 ? await decide(gateway, { caller, session, news }) : undefined;
    const answer = news.message ? await sendOnce(session, news.message, news.isAgain) : decided;
    if (!answer) throw new HttpError(409, 'NOT_PENDING', 'no call of this chat waits for these decisions');
    return answerStream(gateway, { session, answer, format: UI_FORMAT });
  },
});

/** `GET /v1/chat/{id}/stream`: resumes the answer that is in work. */
export const resumeChat = defineRoute({
  method: 'GET',
  path: '/v1/chat/{id}/stream',
  right: 'read',
  summary: 'stream the active answer, or one that ended a short time ago, from its beginning',
  answers: [UI_STREAM, { status: 204, meaning: 'no active answer, or no such chat' }],
  async run({ gateway, caller, params: { id } }) {
    const session = sessionOf(gateway.door.client, caller, id);
    const answer = await resumedRunOf(session, Date.now());
    if (!answer) return { status: 204 };
    if (gateway.isDraining) throw new HttpError(503, 'DRAINING', 'this gateway ends; resume at another one', { 'retry-after': '1' });
    return answerStream(gateway, { session, answer, format: UI_FORMAT });
  },
});

/** `GET /v1/chat/{id}`: the messages of a chat, for a page that opens it. */
export const readChat = defineRoute({
  method: 'GET',
  path: '/v1/chat/{id}',
  right: 'read',
  summary: 'read the last messages of a chat, as `useChat` takes them; an active answer is only in its stream',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(SESSION_LIMITS.runsShown).default(HTTP_LIMITS.chatRunsDefault).describe('Number of answers'),
  }),
  answers: [
    {
      status: 200,
      meaning: 'the messages, oldest first; `truncated`: older ones are left out',
      schema: z.object({
        id: z.string(),
        messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.unknown()) })),
        truncated: z.boolean().describe('Older messages are left out'),
      }),
    },
  ],
  async run({ gateway, caller, params: { id }, query: { limit } }) {
    const { client } = gateway.door;
    const { runs } = await sessionOf(client, caller, id).query();
    const chat = await storedChat(runs.slice(-limit), (runId) => client.get(runId));
    return { status: 200, body: { id, ...chat } };
  },
});

/**
 * Decides about the calls that wait. The answer that continues, or nothing if the chat has no such call. Throws HttpError 403 without the
 * right.
 */
async function decide(
  { door }: Gateway,
  {
    caller,
    session,
    news: { answerId, decisions },
  }: { readonly caller: Caller; readonly session: SessionHandle; readonly news: PostedNews },
): Promise<StreamedAnswer | undefined> {
  if (!caller.rights.has('approve')) throw new HttpError(403, 'FORBIDDEN', 'the token does not have the right approve');
  const state = await stateOf(session);
  const runId = state?.runs.find((run) => run.runId === answerId)?.runId;
  if (runId === undefined) return undefined;
  const run = door.client.get(runId);
  const { pending } = await run.approvals();
  const turns = new Map(pending.map(({ callId, turn }) => [callId, turn]));
  if (decisions.some(({ callId }) => !turns.has(callId))) {
    for (const { callId, turn } of await askedIn(run)) turns.set(callId, turn);
  }
  const known = decisions.flatMap((decision) => turns.get(decision.callId) ?? []);
  if (known.length === 0) return undefined;
  const by = nameOf(caller);
  for (const { callId, approved, reason } of decisions) {
    if (!pending.some((approval) => approval.callId === callId)) continue;
    const decision = approved ? run.approve(callId, { by }) : run.deny(callId, { by, ...(reason === undefined ? {} : { reason }) });
    // another person was faster: the stream shows that decision
    await decision.catch(ifDecided);
  }
  return { runId, fromTurn: Math.max(...known) };
}

/** The calls of a run that waited for approval, with their turns. */
async function askedIn(run: RunHandle): Promise<{ callId: string; turn: number }[]> {
  const asked: { callId: string; turn: number }[] = [];
  for (let after = 0; ; ) {
    const { events, next } = await run.events({ after, types: ['approval.asked'] });
    asked.push(...events.flatMap((event) => (event.type === 'approval.asked' ? [event] : [])));
    if (events.length === 0 || next <= after) return asked;
    after = next;
  }
}

function ifDecided(error: unknown): void {
  if (!(error instanceof PerdureError) || !['ALREADY_DECIDED', 'NO_SUCH_APPROVAL', 'RUN_CLOSED'].includes(error.code)) throw error;
}
