import { z } from 'zod';
import { requireAccepted } from '../../../client/sessions/require-accepted.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { QUEUE_MODES } from '../../../contracts/constants/queue-modes.js';
import { FilePart, TextPart } from '../../../contracts/schemas/message.js';
import { HttpError } from '../access/http-error.js';
import { activePlace } from '../events/active-place.js';
import { readSessionCursor } from '../events/session-cursor.js';
import { followSession } from '../events/session-stream.js';
import { defineRoute } from '../routing/route.js';
import { sessionOf } from '../routing/session-of.js';

const ReceiptBody = z.object({ id: z.string(), accepted: z.boolean(), position: z.number(), duplicate: z.boolean() });

/** `POST /v1/sessions/{key}/messages`: sends a message to a session. */
export const sendToSession = defineRoute({
  method: 'POST',
  path: '/v1/sessions/{key}/messages',
  right: 'run',
  summary: 'send a message to a session; the first one starts it',
  body: z.strictObject({
    id: z.string().optional().describe('Your id of the message. A second message with the same id has no effect'),
    text: z.string().optional().describe('The message'),
    parts: z
      .array(z.union([TextPart, FilePart]))
      .optional()
      .describe('Texts and files'),
    queue: z.enum(QUEUE_MODES).optional().describe('What happens while a run is active; default: that of the session'),
    agent: z.string().optional().describe('Name of the agent, when the message starts the session'),
  }),
  startsWork: true,
  answers: [
    { status: 202, meaning: 'the receipt', schema: ReceiptBody },
    { status: 409, meaning: '`MESSAGE_DROPPED`: a message with this id was dropped before, and is never answered' },
    { status: 429, meaning: '`QUEUE_FULL`: the message was not accepted' },
  ],
  async run({ gateway, caller, params: { key }, body: { agent, ...message } }) {
    const session = sessionOf(gateway.door.client, caller, key, agent);
    const given = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined));
    return { status: 202, body: requireAccepted(await session.send(given)) };
  },
});

const SessionItem = z.object({ key: z.string(), status: z.enum(['open', 'closed']), agent: z.string().optional(), startedAt: z.string() });

/** `GET /v1/sessions`: lists sessions. */
export const listSessions = defineRoute({
  method: 'GET',
  path: '/v1/sessions',
  right: 'read',
  summary: 'list sessions, newest first',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(HTTP_LIMITS.listedMax).default(HTTP_LIMITS.listedDefault).describe('Number of sessions'),
  }),
  answers: [{ status: 200, meaning: 'the sessions', schema: z.object({ sessions: z.array(SessionItem) }) }],
  async run({ gateway, caller: { tenant }, query: { limit } }) {
    const listed = await gateway.door.client.sessions({ limit, ...(tenant === undefined ? {} : { tenant }) });
    // a client with a tenant knows its keys without the name of the tenant
    const prefix = tenant === undefined ? '' : `${tenant}/`;
    const sessions = listed.map(({ key, tenant: _tenant, ...rest }) => ({ key: key.slice(prefix.length), ...rest }));
    return { status: 200, body: { sessions } };
  },
});

/** `GET /v1/sessions/{key}`: shows a session. */
export const readSession = defineRoute({
  method: 'GET',
  path: '/v1/sessions/{key}',
  right: 'read',
  summary: 'show the active run, the queue and the last runs of a session',
  answers: [
    {
      status: 200,
      meaning: 'the session',
      schema: z.looseObject({ key: z.string(), active: z.string().optional(), queued: z.array(z.looseObject({ id: z.string() })) }),
    },
  ],
  async run({ gateway, caller, params: { key } }) {
    return { status: 200, body: await sessionOf(gateway.door.client, caller, key).query() };
  },
});

/** `GET /v1/sessions/{key}/events`: follows a session. */
export const followSessionEvents = defineRoute({
  method: 'GET',
  path: '/v1/sessions/{key}/events',
  right: 'read',
  summary: 'follow a session: its events, and those of each of its runs, with `runId`',
  query: z.strictObject({
    from: z.enum(['start', 'active']).default('start').describe('`active`: without the runs that have ended'),
  }),
  headers: [{ name: 'Last-Event-ID', meaning: 'The `id` of the last event that you have: the stream continues behind it' }],
  answers: [{ status: 200, meaning: 'server-sent events', contentType: 'text/event-stream' }],
  async run({ gateway, caller, headers, params: { key }, query: { from } }) {
    const { client } = gateway.door;
    const session = sessionOf(client, caller, key);
    // a session that does not exist is an answer, not an empty stream
    await session.query();
    if (gateway.isDraining) throw new HttpError(503, 'DRAINING', 'this gateway ends; resume at another one', { 'retry-after': '1' });
    const last = headers['last-event-id'];
    const isFresh = last === undefined && from === 'active';
    const start = isFresh ? await activePlace(session) : readSessionCursor(session.key, typeof last === 'string' ? last : undefined);
    return { stream: followSession({ session, runOf: (runId) => gateway.owners.runOf(caller, runId), feeds: gateway.feeds }, start) };
  },
});

/** `DELETE /v1/sessions/{key}/messages/{id}`: withdraws a message. */
export const unsendFromSession = defineRoute({
  method: 'DELETE',
  path: '/v1/sessions/{key}/messages/{id}',
  right: 'run',
  summary: 'withdraw a message that waits',
  answers: [
    { status: 200, meaning: 'withdrawn', schema: z.object({ id: z.string(), unsent: z.literal(true) }) },
    { status: 409, meaning: '`MESSAGE_IN_WORK`' },
  ],
  async run({ gateway, caller, params: { key, id } }) {
    return { status: 200, body: await sessionOf(gateway.door.client, caller, key).unsend(id) };
  },
});
