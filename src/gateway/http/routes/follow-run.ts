import { HttpError } from '../access/http-error.js';
import { END, readCursor } from '../events/cursor.js';
import { followRun } from '../events/event-stream.js';
import { defineRoute } from '../routing/route.js';

/** `GET /v1/runs/{id}/events`: follows a run. */
export const followRunEvents = defineRoute({
  method: 'GET',
  path: '/v1/runs/{id}/events',
  right: 'read',
  summary: 'follow a run: its events, its tokens as they arrive, its result last',
  headers: [{ name: 'Last-Event-ID', meaning: 'The `id` of the last event that you have: the stream continues behind it' }],
  answers: [
    { status: 200, meaning: 'server-sent events', contentType: 'text/event-stream' },
    { status: 204, meaning: 'you have the result; there is nothing more' },
  ],
  async run({ gateway, caller, headers, params: { id } }) {
    const run = await gateway.owners.runOf(caller, id);
    const last = headers['last-event-id'];
    const cursor = readCursor(run.runId, typeof last === 'string' ? last : undefined);
    if (cursor === END) return { status: 204 };
    if (gateway.isDraining) throw new HttpError(503, 'DRAINING', 'this gateway ends; resume at another one', { 'retry-after': '1' });
    return { stream: followRun(run, gateway.feeds, cursor) };
  },
});
